"""Arrays between Python's libraries and gpureduce in a Lua state of lupa, by DLPack, without a copy.

    to_lua(lua, x)      an array for Lua of what has __dlpack__: NumPy's arrays, CuPy's, torch's tensors
    Tensor(lua, a)      what numpy.from_dlpack and the like take, of an array of Lua's

docs/python.md says how the module is loaded, and who owns what for how long.
"""
import ctypes

# Capsules keep these addresses as their names, so the bytes live as long as the module.
_NAMES = {True: (b"dltensor_versioned", b"used_dltensor_versioned"), False: (b"dltensor", b"used_dltensor")}


def _function(name, result, *arguments):
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_is_valid = _function("PyCapsule_IsValid", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
_pointer = _function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_set_name = _function("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
_new = _function("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


def _module(lua):
    return lua.eval('(require "gpureduce")')


def to_lua(lua, x, **options):
    """An array in the memory of x; options are those of gr.fromdlpack: readonly, volatile, copy, stream."""
    try:
        capsule = x.__dlpack__(max_version=(1, 1))
    except TypeError:  # libraries from before version 1
        capsule = x.__dlpack__()
    versioned = bool(_is_valid(capsule, _NAMES[True][0]))
    name, used = _NAMES[versioned]
    address = _pointer(capsule, name)
    _set_name(capsule, used)  # gr.fromdlpack takes it, also when it raises
    try:
        return _module(lua).fromdlpack(address, lua.table_from(dict(options, versioned=versioned)))
    except Exception as error:
        if "is refused: gr.safe" in str(error):  # but for this
            _set_name(capsule, name)
        raise


class Tensor:
    """An array of Lua's for Python's libraries: numpy.from_dlpack(Tensor(lua, a))."""

    def __init__(self, lua, array, readonly=False):
        self.lua, self.array, self.readonly = lua, array, readonly

    def __dlpack_device__(self):
        device = self._device()
        if device == "cpu":
            return 1, 0
        return (2, int(device[5:])) if device.startswith("cuda:") else (12, 0)

    def _device(self):
        return self.array.info(self.array)["device"]

    def _export(self, options):
        return self.array.dlpack(self.array, self.lua.table_from(options))

    def _export_copy(self, options, host):
        gr = _module(self.lua)
        before = gr.backend()
        before = before[0] if isinstance(before, tuple) else before
        gr.use("cpu" if host else self._device())
        try:
            return self._export(dict(options, copy=True))
        finally:
            gr.use(before)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        versioned = max_version is not None and max_version[0] >= 1
        options = {"versioned": versioned, "readonly": self.readonly}
        if stream is not None:
            options["stream"] = stream
        there = dl_device is None or tuple(dl_device) == self.__dlpack_device__()
        if not there and (tuple(dl_device)[0] != 1 or copy is False):
            raise BufferError("the array is on %s" % (self.__dlpack_device__(),))
        tensor = self._export_copy(options, not there) if copy or not there else self._export(options)
        capsule = _new(tensor.address(tensor), _NAMES[versioned][0], tensor.destructor(tensor))
        tensor.consume(tensor)
        return capsule
