#!/usr/bin/env python3
"""Do two builds hold the same machine code?   mk/same_code.py OLD/obj NEW/obj

For moves and renames, which must change none. Names do not count, nor does where a function lies or which object of the
build it is in: what is compared is how often each body occurs, of functions of the host (objdump) and of kernels (the
bytes of their code and constants in the cubins inside). Prints what occurs more often on one side, and exits with 1.
Names of files that moved need no telling. The zstd and objdump commands must be there.
"""
import collections, hashlib, os, re, struct, subprocess, sys

def run(*command, data=None):
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout

def sections(elf):
    """Name, type and bytes of each section of a 64-bit ELF file."""
    at, = struct.unpack_from('<Q', elf, 40)
    size, count, names = struct.unpack_from('<HHH', elf, 58)
    heads = [struct.unpack_from('<IIQQQQ', elf, at + k * size) for k in range(count)]
    text = heads[names]
    for name, kind, _, _, offset, length in heads:
        start = text[4] + name
        word = elf[start:elf.index(b'\0', start)].decode()
        yield word, kind, b'' if kind == 8 else elf[offset:offset + length]

def cubins(fatbin):
    """The cubins of an .nv_fatbin section, which is a row of containers of entries, compressed or not."""
    at = 0
    while at + 16 <= len(fatbin):
        magic, _, header, length = struct.unpack_from('<IHHQ', fatbin, at)
        if magic != 0xBA55ED50:
            at += 8
            continue
        end, at = at + header + length, at + header
        while at + 64 <= end:
            kind, _, header, padded, packed = struct.unpack_from('<HHIQI', fatbin, at)
            body = fatbin[at + header:at + header + (packed or padded)]
            if kind == 2:
                if body[:4] == b'\x28\xb5\x2f\xfd': body = run('zstd', '-dcq', data=body)
                if body[:4] != b'\x7fELF': sys.exit('a cubin compressed in a way that is not known here')
                yield body
            at += header + padded
        at = end

def kernels(elf, found):
    for name, _, body in sections(elf):
        if name != '.nv_fatbin': continue
        for cubin in cubins(body):
            for name, _, code in sections(cubin):
                if name.startswith(('.text.', '.nv.constant2', '.nv.constant3', '.nv.constant4', '.nv.global')):
                    part = '.'.join(name.split('.')[:2 if name.startswith('.text.') else 3])
                    found['device', part, hashlib.sha1(code).hexdigest()].append(name)

def functions(path, found):
    name, lines = None, []
    def close():
        while lines and re.fullmatch(r'(nop.*|data16.*|cs nop.*|xchg +%ax,%ax)', lines[-1]): lines.pop()
        if name: found['host', '', hashlib.sha1('\n'.join(lines).encode()).hexdigest()].append(name)
    for line in run('objdump', '-dr', '--no-show-raw-insn', path).decode().split('\n'):
        head = re.match(r'[0-9a-f]+ <(.*)>:$', line)
        if head:
            close()
            name, lines, base = head.group(1), [], int(line.split()[0], 16)
        elif name and re.match(r' *[0-9a-f]+:\t', line):
            text = line.split('\t', 1)[1].split('#')[0].strip()
            if re.search(r'\(%rip\)', text): text = re.sub(r'-?(0x)?[0-9a-f]+\(%rip\)', 'X(%rip)', text)
            jump = re.search(r'\b([0-9a-f]+) <([^>]*)>$', text)
            if jump: # within the function, or elsewhere
                to = jump.group(2).split('+')[0]
                text = text[:jump.start()] + (f'{int(jump.group(1), 16) - base:x}' if to == name else 'elsewhere')
            lines.append(text)
        elif name and 'R_' in line:
            lines.append(line.split(':', 1)[1].split()[0])
    close()

def read(folder):
    found = collections.defaultdict(list)
    for where, _, files in os.walk(folder):
        for file in files:
            if not file.endswith('.o'): continue
            path = os.path.join(where, file)
            with open(path, 'rb') as f: elf = f.read()
            functions(path, found)
            kernels(elf, found)
    return found

def main():
    if len(sys.argv) != 3: sys.exit(__doc__)
    old, new = read(sys.argv[1]), read(sys.argv[2])
    differ = 0
    for key in sorted(set(old) | set(new)):
        a, b = old.get(key, []), new.get(key, [])
        if len(a) == len(b): continue
        differ += 1
        print(f'{key[0]}: {len(a)} before, {len(b)} after: {(a or b)[0]}')
    for side, found in (('before', old), ('after', new)):
        count = lambda kind: sum(len(v) for k, v in found.items() if k[0] == kind)
        print(f'{side}: {count("host")} bodies of the host, {count("device")} bodies of the device')
    print('the same machine code' if not differ else f'{differ} bodies differ')
    sys.exit(differ > 0)

main()
