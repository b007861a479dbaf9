---@meta gpureduce
-- Types for the Lua language server. Written by docs/generate.lua from docs/api/*.lua: edit those, then run
-- 'make docs'. A line longer than 120 characters is one annotation, which may not be broken.
-- luacheck: ignore

---@alias gpureduce.dtype "u8"|"i8"|"i16"|"u16"|"i32"|"u32"|"i64"|"f16"|"bf16"|"f32"|"f64"

---@class gpureduce
---@field _VERSION string
---@field _COPY string? that another copy of the module is open in this Lua state
local gr = {}

---An exact sum that outlives a call: a fixed-point number wide enough for every f64 product.
---@class gpureduce.accumulator
local accumulator = {}

---A typed array, or a view of one.
---@class gpureduce.array
---@field dtype gpureduce.dtype the type of its elements
---@field rows integer of a matrix
---@field columns integer of a matrix
---@field shape integer[] `{ n }`, or `{ rows, columns }`
---@field [integer] number the elements
---@operator add(gpureduce.array|number): gpureduce.array
---@operator sub(gpureduce.array|number): gpureduce.array
---@operator mul(gpureduce.array|number): gpureduce.array
---@operator div(gpureduce.array|number): gpureduce.array
---@operator unm: gpureduce.array
---@operator len: integer
local array = {}

---A formula of arrays and numbers that nobody has computed yet. It holds its arrays as views do; what is written to
---them later counts. `#e` is its length. Functions of the module that take an array's values take it in the array's
---place, and are methods of it too: all reductions, `gr.many`, `histogram` (`weights` as well), `bincount`, `scan`,
---`compact` (as values and as mask), `take` (as values and as index), `shuffle`, `choice`, `quantile`, `median`,
---`rmsnorm`, `softmax`, `cov`, `corr`, `digest`, `allclose`, `isclose`, `differ`. The element operators, `compare` and
---`where`, and `+ - * / % ^` and unary `-` (where Lua has them, `//`, `& | ~ << >>` and unary `~` too), give
---expressions again. `<` and `<=` raise, as Lua would make booleans of them; `and` and `==` are Lua's own: write `land`
---and `eq`.
---@class gpureduce.expression
---@operator add(any): gpureduce.expression
---@operator sub(any): gpureduce.expression
---@operator mul(any): gpureduce.expression
---@operator div(any): gpureduce.expression
---@operator pow(any): gpureduce.expression
---@operator unm: gpureduce.expression
---@operator len: integer
local expression = {}

---A formula that has been read; called with a table of its inputs, `f{a = a, b = 2}`, it gives an expression.
---@class gpureduce.formula
---@operator call(table): gpureduce.expression
local formula = {}

---A result for later. `tostring(f)` says whether it is running, done or failed.
---@class gpureduce.future
local future = {}

---What `gr.histogram` returns. `print(h)` draws it, `#h` is its number of bins (Lua 5.2 and later).
---@class gpureduce.histogram
---@field counts gpureduce.array i64: the samples in each bin; with float weights f64: their sums
---@field edges gpureduce.array f64: one more than bins
---@field below number samples (or their weights) below the first edge; -infinity too
---@field above number samples above the last edge; +infinity too
---@field nan number samples that are no numbers
---f64, with `{density=true}`: counts / width / total, so that the bars' areas add up to 1
---@field density gpureduce.array
local histogram = {}

---What `gr.histogram2d` returns. `print(h)` draws it.
---@class gpureduce.histogram2d
---i64: the pairs in each cell, a matrix whose rows are the bins of x and whose columns those of y; with float weights
---f64: their sums
---@field counts gpureduce.array
---@field xedges gpureduce.array f64: one more than bins of x
---@field yedges gpureduce.array f64: one more than bins of y
---@field outside number pairs (or their weights) of which x or y lies in no bin; infinities too
---@field nan number pairs of which x or y is no number
---@field density gpureduce.array f64, with `{density=true}`: counts / width in x / width in y / total, a matrix
local histogram2d = {}

---An operator of one's own. `gr.reduce` and `gr.scan`, and so `a:reduce(op)`, take it in the place of a name; called,
---`op(a, options)`, it reduces.
---@class gpureduce.operator
---@operator call(any): any
local operator = {}

---An array for another library. Until somebody consumes it, it is its own owner: collected or released, it calls its
---deleter. Whoever takes its pointer says so by `consume`, and calls the deleter from then on; any thread may, also
---after the Lua state has been closed. The array's memory stays until then.
---@class gpureduce.dlpack
local tensor = {}

---Counts the device's time from where it was made.
---@class gpureduce.timer
local timer = {}

---@class gpureduce.array.options
---@field dtype? gpureduce.dtype what else stands before the options

---Make an array from a table of numbers, from a packed string, or of so many zeros. Numbers are rounded to nearest for
---float dtypes; integer dtypes take whole numbers in range only.
---@param from number[]|number[][]|string|integer the elements, rows of elements, their bytes in the machine's order, or the length
---@param dtype? gpureduce.dtype the type of the elements
---@param options? gpureduce.array.options the dtype by its name, if not before
---@return gpureduce.array # a new array
---@return integer? # of rows: how many
---@return integer? # and how many elements each has
---@overload fun(from: number[]|number[][]|string|integer, options: gpureduce.array.options): gpureduce.array, integer?, integer?
function gr.array(from, dtype, options) end

---@class gpureduce.frombytes.options
---@field dtype? gpureduce.dtype what else stands before the options

---Make an array from a packed string, as `string.pack` or a file gives it.
---@param bytes string the elements in the machine's byte order
---@param dtype? gpureduce.dtype|string or a format of `string.pack` for one number, such as `">i4"` or `"<d"` (a name that is both is the dtype)
---@param options? gpureduce.frombytes.options the dtype by its name, if not before
---@return gpureduce.array # a new array
---@overload fun(bytes: string, options: gpureduce.frombytes.options): gpureduce.array
function gr.frombytes(bytes, dtype, options) end

---@class gpureduce.zeros.options
---@field dtype? gpureduce.dtype what else stands before the options

---Make an array of zeros.
---@param n integer the length
---@param dtype? gpureduce.dtype the type of the elements
---@param options? gpureduce.zeros.options the dtype by its name, if not before
---@return gpureduce.array # a new array
---@overload fun(n: integer, options: gpureduce.zeros.options): gpureduce.array
function gr.zeros(n, dtype, options) end

---@class gpureduce.ones.options
---@field dtype? gpureduce.dtype what else stands before the options

---Make an array of ones.
---@param n integer the length
---@param dtype? gpureduce.dtype the type of the elements
---@param options? gpureduce.ones.options the dtype by its name, if not before
---@return gpureduce.array # a new array
---@overload fun(n: integer, options: gpureduce.ones.options): gpureduce.array
function gr.ones(n, dtype, options) end

---@class gpureduce.full.options
---@field dtype? gpureduce.dtype what else stands before the options

---Make an array that holds one value everywhere.
---@param n integer the length
---@param value number what each element becomes
---@param dtype? gpureduce.dtype the type of the elements
---@param options? gpureduce.full.options the dtype by its name, if not before
---@return gpureduce.array # a new array
---@overload fun(n: integer, value: number, options: gpureduce.full.options): gpureduce.array
function gr.full(n, value, dtype, options) end

---@class gpureduce.arange.options
---@field dtype? gpureduce.dtype what else stands before the options

---Make an array of evenly spaced numbers; as in Lua's `for`, the last is included when it is hit. Whole numbers are
---counted exactly, all 64 bits of them.
---@param first number the first element
---@param last number the limit
---@param step? number from one element to the next
---@param dtype? gpureduce.dtype the type of the elements
---@param options? gpureduce.arange.options the dtype by its name, if not before
---@return gpureduce.array # a new array; empty when the limit lies behind the first
---@overload fun(first: number, last: number, options: gpureduce.arange.options): gpureduce.array
---@overload fun(first: number, last: number, dtype: gpureduce.dtype, options?: gpureduce.arange.options): gpureduce.array
function gr.arange(first, last, step, dtype, options) end

---@class gpureduce.linspace.options
---@field dtype? gpureduce.dtype what else stands before the options

---Make an array of n evenly spaced numbers with both ends included.
---@param first number the first element
---@param last number the last element
---@param n integer the length
---@param dtype? gpureduce.dtype the type of the elements
---@param options? gpureduce.linspace.options the dtype by its name, if not before
---@return gpureduce.array # a new array
---@overload fun(first: number, last: number, n: integer, options: gpureduce.linspace.options): gpureduce.array
function gr.linspace(first, last, n, dtype, options) end

---@class gpureduce.rand.options
---@field dtype? gpureduce.dtype what else stands before the options
---name the numbers: the same seed and stream give the same ones in every call; default none: each call takes the next
---numbers of the state's generator
---@field seed? integer
---@field stream? integer with `seed`: which of its sequences, 0 to 2^62 - 1; default 0
---@field into? gpureduce.array the array that takes the numbers (n long, of that dtype)
---a communicator of `gpureduce.mpi`: n are this rank's numbers of what lies over all ranks; a number depends on its
---place in the whole alone ([ranks.md](ranks.md))
---@field comm? any

---Make an array of random numbers from 0 (included) to 1 (excluded), all equally likely. Each call gives new ones, but
---for those of a `seed`; they are the same on every machine (Philox 4x32-10, Salmon and others 2011).
---@param n integer the length
---@param dtype? gpureduce.dtype the type of the elements
---@param options? gpureduce.rand.options
---@return gpureduce.array # a new array
---@overload fun(n: integer, options: gpureduce.rand.options): gpureduce.array
function gr.rand(n, dtype, options) end

---@class gpureduce.randn.options
---@field dtype? gpureduce.dtype what else stands before the options
---name the numbers: the same seed and stream give the same ones in every call; default none: each call takes the next
---numbers of the state's generator
---@field seed? integer
---@field stream? integer with `seed`: which of its sequences, 0 to 2^62 - 1; default 0
---@field into? gpureduce.array the array that takes the numbers (n long, of that dtype)
---a communicator of `gpureduce.mpi`: n are this rank's numbers of what lies over all ranks; a number depends on its
---place in the whole alone ([ranks.md](ranks.md))
---@field comm? any

---Make an array of random numbers of the normal distribution with mean 0 and deviation 1 (Box and Muller's pairs, of
---numbers that `rand` never gives). `gr.randn(n) * deviation + mean` has others.
---@param n integer the length
---@param dtype? gpureduce.dtype the type of the elements
---@param options? gpureduce.randn.options
---@return gpureduce.array # a new array
---@overload fun(n: integer, options: gpureduce.randn.options): gpureduce.array
function gr.randn(n, dtype, options) end

---@class gpureduce.exponential.options
---@field dtype? gpureduce.dtype what else stands before the options
---name the numbers: the same seed and stream give the same ones in every call; default none: each call takes the next
---numbers of the state's generator
---@field seed? integer
---@field stream? integer with `seed`: which of its sequences, 0 to 2^62 - 1; default 0
---@field into? gpureduce.array the array that takes the numbers (n long, of that dtype)
---a communicator of `gpureduce.mpi`: n are this rank's numbers of what lies over all ranks; a number depends on its
---place in the whole alone ([ranks.md](ranks.md))
---@field comm? any

---Make an array of random numbers of the exponential distribution with mean 1: the time until something happens that
---happens once a second on the average. `gr.exponential(n) / rate` has others.
---@param n integer the length
---@param dtype? gpureduce.dtype the type of the elements
---@param options? gpureduce.exponential.options
---@return gpureduce.array # a new array
---@overload fun(n: integer, options: gpureduce.exponential.options): gpureduce.array
function gr.exponential(n, dtype, options) end

---@class gpureduce.randint.options
---@field dtype? gpureduce.dtype what else stands before the options
---name the numbers: the same seed and stream give the same ones in every call; default none: each call takes the next
---numbers of the state's generator
---@field seed? integer
---@field stream? integer with `seed`: which of its sequences, 0 to 2^62 - 1; default 0
---@field into? gpureduce.array the array that takes the numbers (n long, of that dtype)
---a communicator of `gpureduce.mpi`: n are this rank's numbers of what lies over all ranks; a number depends on its
---place in the whole alone ([ranks.md](ranks.md))
---@field comm? any

---Make an array of random whole numbers from low to high, both included as in `math.random`, all equally likely: their
---chances differ by less than one part in 2^32 (of more than 2^32 numbers: 2^64).
---@param low integer the least
---@param high integer the greatest
---@param n integer the length
---@param dtype? gpureduce.dtype an integer dtype
---@param options? gpureduce.randint.options
---@return gpureduce.array # a new array
---@overload fun(low: integer, high: integer, n: integer, options: gpureduce.randint.options): gpureduce.array
function gr.randint(low, high, n, dtype, options) end

---@class gpureduce.permutation.options
---@field dtype? gpureduce.dtype what else stands before the options
---name the numbers: the same seed and stream give the same ones in every call; default none: each call takes the next
---numbers of the state's generator
---@field seed? integer
---@field stream? integer with `seed`: which of its sequences, 0 to 2^62 - 1; default 0
---@field into? gpureduce.array the array that takes the numbers (n long, of that dtype)

---Make an array of the positions 1 to n in random order. Each element is computed by itself, without a sort: a
---bijection with random keys (Mitchell, Stokes, Frank and Holmes, "Bandwidth-Optimal Random Shuffling for GPUs", 2021),
---here a Feistel network of 16 rounds with cycle walking. Up to 128 elements are put in the order of random keys of 64
---bits, so that all orders are equally likely.
---@param n integer the length
---@param dtype? gpureduce.dtype an integer dtype
---@param options? gpureduce.permutation.options
---@return gpureduce.array # a new array
---@overload fun(n: integer, options: gpureduce.permutation.options): gpureduce.array
function gr.permutation(n, dtype, options) end

---@class gpureduce.shuffle.options
---name the numbers: the same seed and stream give the same ones in every call; default none: each call takes the next
---numbers of the state's generator
---@field seed? integer
---@field stream? integer with `seed`: which of its sequences, 0 to 2^62 - 1; default 0
---@field into? gpureduce.array the array that takes them (of the input's dtype and length, sharing nothing with it)

---The elements of an array in random order, as a new one: `a:take(gr.permutation(#a))` with the same seed.
---@param a gpureduce.array the input
---@param options? gpureduce.shuffle.options
---@return gpureduce.array # as long as the input
function gr.shuffle(a, options) end

---The elements of an array in random order, as a new one: `a:take(gr.permutation(#a))` with the same seed.
---@param options? gpureduce.shuffle.options
---@return gpureduce.array # as long as the input
function array:shuffle(options) end

---The elements of an array in random order, as a new one: `a:take(gr.permutation(#a))` with the same seed.
---@param options? gpureduce.shuffle.options
---@return gpureduce.array # as long as the input
function expression:shuffle(options) end

---@class gpureduce.choice.options
---@field replace? boolean whether an element may come again; default true
---as long as the input, of any dtype: 0 or more, finite, not all 0. Those below 2^-61 of the largest, times n, count as
---0
---@field weights? gpureduce.array
---name the numbers: the same seed and stream give the same ones in every call; default none: each call takes the next
---numbers of the state's generator
---@field seed? integer
---@field stream? integer with `seed`: which of its sequences, 0 to 2^62 - 1; default 0
---@field into? gpureduce.array the array that takes them (k long, of the input's dtype, sharing nothing with it)

---k random elements of an array. With `replace` each of them is drawn from all: `a:take(gr.randint(1, #a, k))` with the
---same seed; without it none comes twice: the start of `gr.permutation`. With weights an element is as likely as its
---weight says; without `replace` that holds for the first one drawn, then among those that are left for the next, and
---so on (exponential clocks: Efraimidis and Spirakis 2006), and what was drawn comes in random order.
---@param a gpureduce.array the input
---@param k integer how many
---@param options? gpureduce.choice.options
---@return gpureduce.array # k elements
function gr.choice(a, k, options) end

---k random elements of an array. With `replace` each of them is drawn from all: `a:take(gr.randint(1, #a, k))` with the
---same seed; without it none comes twice: the start of `gr.permutation`. With weights an element is as likely as its
---weight says; without `replace` that holds for the first one drawn, then among those that are left for the next, and
---so on (exponential clocks: Efraimidis and Spirakis 2006), and what was drawn comes in random order.
---@param k integer how many
---@param options? gpureduce.choice.options
---@return gpureduce.array # k elements
function array:choice(k, options) end

---k random elements of an array. With `replace` each of them is drawn from all: `a:take(gr.randint(1, #a, k))` with the
---same seed; without it none comes twice: the start of `gr.permutation`. With weights an element is as likely as its
---weight says; without `replace` that holds for the first one drawn, then among those that are left for the next, and
---so on (exponential clocks: Efraimidis and Spirakis 2006), and what was drawn comes in random order.
---@param k integer how many
---@param options? gpureduce.choice.options
---@return gpureduce.array # k elements
function expression:choice(k, options) end

---Start the generator of random numbers without a seed of their own anew: the same n, the same numbers.
---@param n integer which numbers; a new Lua state begins with 0
function gr.seed(n) end

---A view of a part: it shares the elements, so what is written to one is seen in the other. With a negative step it
---runs from i down to j.
---@param a gpureduce.array the input
---@param i? integer the first position
---@param j? integer the last position, included
---@param step? integer from one element to the next, not 0
---@return gpureduce.array # the view; a view and its copy give the same bits everywhere
function gr.slice(a, i, j, step) end

---A view of a part: it shares the elements, so what is written to one is seen in the other. With a negative step it
---runs from i down to j.
---@param i? integer the first position
---@param j? integer the last position, included
---@param step? integer from one element to the next, not 0
---@return gpureduce.array # the view; a view and its copy give the same bits everywhere
function array:slice(i, j, step) end

---The elements as a Lua table; of a matrix its rows, a table each. The way to read many: one copy, one wait.
---@param a gpureduce.array the input
---@param i? integer the first position; negative: from the end
---@param j? integer the last position, included
---@return table # a new one
function gr.table(a, i, j) end

---The elements as a Lua table; of a matrix its rows, a table each. The way to read many: one copy, one wait.
---@param i? integer the first position; negative: from the end
---@param j? integer the last position, included
---@return table # a new one
function array:table(i, j) end

---A loop over all elements in turn, of a matrix over its rows, on every Lua: `for i, v in gr.ipairs(a) do`. Lua's own
---`ipairs(a)` does the same from Lua 5.2 on; in Lua 5.1 and LuaJIT it takes tables alone. Each element is read when its
---turn comes, so the loop sees what it writes.
---@param a gpureduce.array the input
---@return function # gives each position and its element
---@return gpureduce.array # a
---@return integer # 0
function gr.ipairs(a) end

---A loop over all elements in turn, of a matrix over its rows, on every Lua: `for i, v in gr.ipairs(a) do`. Lua's own
---`ipairs(a)` does the same from Lua 5.2 on; in Lua 5.1 and LuaJIT it takes tables alone. Each element is read when its
---turn comes, so the loop sees what it writes.
---@return function # gives each position and its element
---@return gpureduce.array # a
---@return integer # 0
function array:ipairs() end

---The elements as a packed string in the machine's byte order: exact for every dtype, and fast.
---@param a gpureduce.array the input
---@param i? integer the first position; negative: from the end
---@param j? integer the last position, included
---@return string # count times the element's size
function gr.bytes(a, i, j) end

---The elements as a packed string in the machine's byte order: exact for every dtype, and fast.
---@param i? integer the first position; negative: from the end
---@param j? integer the last position, included
---@return string # count times the element's size
function array:bytes(i, j) end

---@class gpureduce.copy.options
---@field into? gpureduce.array the array or view that takes them: same dtype and length, on any device, apart from a

---A new contiguous array with the same elements and shape, on the device in use; or the elements put into another
---array.
---@param a gpureduce.array the input
---@param options? gpureduce.copy.options
---@return gpureduce.array # a new array, or `into`
function gr.copy(a, options) end

---A new contiguous array with the same elements and shape, on the device in use; or the elements put into another
---array.
---@param options? gpureduce.copy.options
---@return gpureduce.array # a new array, or `into`
function array:copy(options) end

---Store one value in every element.
---@param a gpureduce.array the input
---@param value number what each element becomes
---@return gpureduce.array # the same array
function gr.fill(a, value) end

---Store one value in every element.
---@param value number what each element becomes
---@return gpureduce.array # the same array
function array:fill(value) end

---Whether two arrays have the same dtype, the same length and shape, and the same numbers.
---@param a gpureduce.array the input
---@param b gpureduce.array the other array
---@return boolean # true when nothing differs; zeros of either sign are equal, and so are NaNs (`digest` tells bits apart)
function gr.equal(a, b) end

---Whether two arrays have the same dtype, the same length and shape, and the same numbers.
---@param b gpureduce.array the other array
---@return boolean # true when nothing differs; zeros of either sign are equal, and so are NaNs (`digest` tells bits apart)
function array:equal(b) end

---What there is to know about an array without touching its data.
---@param a gpureduce.array the input
---@return table # `n`, `dtype`, `size` (bytes of an element), `stride` (elements), `storage_bytes`, `references` (views that share them), `device`, `where` (which copy is current); of a matrix `rows` and `columns`
function gr.info(a) end

---What there is to know about an array without touching its data.
---@return table # `n`, `dtype`, `size` (bytes of an element), `stride` (elements), `storage_bytes`, `references` (views that share them), `device`, `where` (which copy is current); of a matrix `rows` and `columns`
function array:info() end

---A view of an array as a matrix of so many rows.
---@param a gpureduce.array the input
---@param rows integer 1 or more; must divide the length
---@param columns? integer for readers: must be the length divided by the rows
---@return gpureduce.array # the matrix, which shares the elements
function gr.matrix(a, rows, columns) end

---A view of an array as a matrix of so many rows.
---@param rows integer 1 or more; must divide the length
---@param columns? integer for readers: must be the length divided by the rows
---@return gpureduce.array # the matrix, which shares the elements
function array:matrix(rows, columns) end

---With i: row i of a matrix, as a view. Of a vector alone: that vector as a row, which operators repeat for all rows of
---the matrix that it meets.
---@param a gpureduce.array a matrix, or a vector (also a matrix of one row or one column)
---@param i? integer which row; negative from the end
---@return gpureduce.array|gpureduce.expression # the view; or the row, for operators and formulas
function gr.row(a, i) end

---With i: row i of a matrix, as a view. Of a vector alone: that vector as a row, which operators repeat for all rows of
---the matrix that it meets.
---@param i? integer which row; negative from the end
---@return gpureduce.array|gpureduce.expression # the view; or the row, for operators and formulas
function array:row(i) end

---With j: column j of a matrix, as a view. Of a vector alone: that vector as a column, which operators repeat for all
---columns of the matrix that it meets.
---@param a gpureduce.array a matrix, or a vector (also a matrix of one row or one column)
---@param j? integer which column; negative from the end
---@return gpureduce.array|gpureduce.expression # the view; or the column, for operators and formulas
function gr.column(a, j) end

---With j: column j of a matrix, as a view. Of a vector alone: that vector as a column, which operators repeat for all
---columns of the matrix that it meets.
---@param j? integer which column; negative from the end
---@return gpureduce.array|gpureduce.expression # the view; or the column, for operators and formulas
function array:column(j) end

---An array of one element, which operators repeat for all elements of the vector or matrix that it meets. It is read
---where it lies, so a result that was left there (`{into=, at=}`) is used without a wait; in the text of a formula
---`scalar(x)` says the same.
---@param a gpureduce.array of one element; `a:slice(i, i)` is one of several
---@return gpureduce.expression # the scalar, for operators and formulas
function gr.scalar(a) end

---An array of one element, which operators repeat for all elements of the vector or matrix that it meets. It is read
---where it lies, so a result that was left there (`{into=, at=}`) is used without a wait; in the text of a formula
---`scalar(x)` says the same.
---@return gpureduce.expression # the scalar, for operators and formulas
function array:scalar() end

---The matrix turned over, as a view: no element moves. Its rows, columns and elements, its reductions by `axis`, `fill`
---and `release` take it as it lies; all else works on a copy whose elements are in order. `put` and `T[index] = values`
---write what they change in that copy back.
---@param X gpureduce.array a matrix
---@return gpureduce.array # a matrix of `X.columns` rows; what is written to its elements shows in X. It cannot be `into`
function gr.transpose(X) end

---The matrix turned over, as a view: no element moves. Its rows, columns and elements, its reductions by `axis`, `fill`
---and `release` take it as it lies; all else works on a copy whose elements are in order. `put` and `T[index] = values`
---write what they change in that copy back.
---@return gpureduce.array # a matrix of `X.columns` rows; what is written to its elements shows in X. It cannot be `into`
function array:transpose() end

---@class gpureduce.cov.options
---@field rows? integer read an array as a matrix of so many rows
---@field ddof? number what is subtracted from the number of rows in the divisor; NumPy's default is 1; default 0
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The covariances of the columns of a matrix: how each two of them vary together, and their variances on the diagonal.
---@param X gpureduce.array a matrix
---@param options? gpureduce.cov.options
---@return gpureduce.array # a matrix of f64, with a row and a column for each column, the same from both sides
function gr.cov(X, options) end

---The covariances of the columns of a matrix: how each two of them vary together, and their variances on the diagonal.
---@param options? gpureduce.cov.options
---@return gpureduce.array # a matrix of f64, with a row and a column for each column, the same from both sides
function array:cov(options) end

---The covariances of the columns of a matrix: how each two of them vary together, and their variances on the diagonal.
---@param options? gpureduce.cov.options
---@return gpureduce.array # a matrix of f64, with a row and a column for each column, the same from both sides
function expression:cov(options) end

---@class gpureduce.corr.options
---@field rows? integer read an array as a matrix of so many rows
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The correlations (Pearson's) of the columns of a matrix: their covariances over both deviations.
---@param X gpureduce.array a matrix
---@param options? gpureduce.corr.options
---@return gpureduce.array # a matrix of f64, from -1 to 1, with ones on the diagonal; NaN in the row and column of one that does not vary
function gr.corr(X, options) end

---The correlations (Pearson's) of the columns of a matrix: their covariances over both deviations.
---@param options? gpureduce.corr.options
---@return gpureduce.array # a matrix of f64, from -1 to 1, with ones on the diagonal; NaN in the row and column of one that does not vary
function array:corr(options) end

---The correlations (Pearson's) of the columns of a matrix: their covariances over both deviations.
---@param options? gpureduce.corr.options
---@return gpureduce.array # a matrix of f64, from -1 to 1, with ones on the diagonal; NaN in the row and column of one that does not vary
function expression:corr(options) end

---@class gpureduce.add.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---Sum of each pair of elements.
---@param a gpureduce.array|number
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.add.options
---@return gpureduce.array # as long as the input
function gr.add(a, b, options) end

---Sum of each pair of elements.
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.add.options
---@return gpureduce.array # as long as the input
function array:add(b, options) end

---Sum of each pair of elements.
---@param b gpureduce.array|gpureduce.expression|number at least one of the two is an array
---@param options? gpureduce.add.options
---@return gpureduce.expression # as long as the input
function expression:add(b, options) end

---@class gpureduce.sub.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---Difference of each pair of elements.
---@param a gpureduce.array|number
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.sub.options
---@return gpureduce.array # as long as the input
function gr.sub(a, b, options) end

---Difference of each pair of elements.
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.sub.options
---@return gpureduce.array # as long as the input
function array:sub(b, options) end

---Difference of each pair of elements.
---@param b gpureduce.array|gpureduce.expression|number at least one of the two is an array
---@param options? gpureduce.sub.options
---@return gpureduce.expression # as long as the input
function expression:sub(b, options) end

---@class gpureduce.mul.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---Product of each pair of elements.
---@param a gpureduce.array|number
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.mul.options
---@return gpureduce.array # as long as the input
function gr.mul(a, b, options) end

---Product of each pair of elements.
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.mul.options
---@return gpureduce.array # as long as the input
function array:mul(b, options) end

---Product of each pair of elements.
---@param b gpureduce.array|gpureduce.expression|number at least one of the two is an array
---@param options? gpureduce.mul.options
---@return gpureduce.expression # as long as the input
function expression:mul(b, options) end

---@class gpureduce.div.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---Quotient of each pair of elements.
---@param a gpureduce.array|number
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.div.options
---@return gpureduce.array # as long as the input
function gr.div(a, b, options) end

---Quotient of each pair of elements.
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.div.options
---@return gpureduce.array # as long as the input
function array:div(b, options) end

---Quotient of each pair of elements.
---@param b gpureduce.array|gpureduce.expression|number at least one of the two is an array
---@param options? gpureduce.div.options
---@return gpureduce.expression # as long as the input
function expression:div(b, options) end

---@class gpureduce.neg.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---Each element with the other sign; `-a`.
---@param a gpureduce.array the input
---@param options? gpureduce.neg.options
---@return gpureduce.array # as long as the input
function gr.neg(a, options) end

---Each element with the other sign; `-a`.
---@param options? gpureduce.neg.options
---@return gpureduce.array # as long as the input
function array:neg(options) end

---Each element with the other sign; `-a`.
---@param options? gpureduce.neg.options
---@return gpureduce.expression # as long as the input
function expression:neg(options) end

---@class gpureduce.abs.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The magnitude of each element. Of the lowest integer of a dtype: that integer.
---@param a gpureduce.array the input
---@param options? gpureduce.abs.options
---@return gpureduce.array # as long as the input
function gr.abs(a, options) end

---The magnitude of each element. Of the lowest integer of a dtype: that integer.
---@param options? gpureduce.abs.options
---@return gpureduce.array # as long as the input
function array:abs(options) end

---The magnitude of each element. Of the lowest integer of a dtype: that integer.
---@param options? gpureduce.abs.options
---@return gpureduce.expression # as long as the input
function expression:abs(options) end

---@class gpureduce.square.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---Each element times itself.
---@param a gpureduce.array the input
---@param options? gpureduce.square.options
---@return gpureduce.array # as long as the input
function gr.square(a, options) end

---Each element times itself.
---@param options? gpureduce.square.options
---@return gpureduce.array # as long as the input
function array:square(options) end

---Each element times itself.
---@param options? gpureduce.square.options
---@return gpureduce.expression # as long as the input
function expression:square(options) end

---@class gpureduce.sqrt.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The square root of each element, correctly rounded.
---@param a gpureduce.array the input
---@param options? gpureduce.sqrt.options
---@return gpureduce.array # as long as the input
function gr.sqrt(a, options) end

---The square root of each element, correctly rounded.
---@param options? gpureduce.sqrt.options
---@return gpureduce.array # as long as the input
function array:sqrt(options) end

---The square root of each element, correctly rounded.
---@param options? gpureduce.sqrt.options
---@return gpureduce.expression # as long as the input
function expression:sqrt(options) end

---@class gpureduce.rsqrt.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---1 / sqrt of each element, rounded once. Of 0 infinity with its sign.
---@param a gpureduce.array the input
---@param options? gpureduce.rsqrt.options
---@return gpureduce.array # as long as the input
function gr.rsqrt(a, options) end

---1 / sqrt of each element, rounded once. Of 0 infinity with its sign.
---@param options? gpureduce.rsqrt.options
---@return gpureduce.array # as long as the input
function array:rsqrt(options) end

---1 / sqrt of each element, rounded once. Of 0 infinity with its sign.
---@param options? gpureduce.rsqrt.options
---@return gpureduce.expression # as long as the input
function expression:rsqrt(options) end

---@class gpureduce.cbrt.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The cube root of each element, of negative ones too.
---@param a gpureduce.array the input
---@param options? gpureduce.cbrt.options
---@return gpureduce.array # as long as the input
function gr.cbrt(a, options) end

---The cube root of each element, of negative ones too.
---@param options? gpureduce.cbrt.options
---@return gpureduce.array # as long as the input
function array:cbrt(options) end

---The cube root of each element, of negative ones too.
---@param options? gpureduce.cbrt.options
---@return gpureduce.expression # as long as the input
function expression:cbrt(options) end

---@class gpureduce.exp.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---e to the power of each element.
---@param a gpureduce.array the input
---@param options? gpureduce.exp.options
---@return gpureduce.array # as long as the input
function gr.exp(a, options) end

---e to the power of each element.
---@param options? gpureduce.exp.options
---@return gpureduce.array # as long as the input
function array:exp(options) end

---e to the power of each element.
---@param options? gpureduce.exp.options
---@return gpureduce.expression # as long as the input
function expression:exp(options) end

---@class gpureduce.exp2.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---2 to the power of each element; exact for whole ones.
---@param a gpureduce.array the input
---@param options? gpureduce.exp2.options
---@return gpureduce.array # as long as the input
function gr.exp2(a, options) end

---2 to the power of each element; exact for whole ones.
---@param options? gpureduce.exp2.options
---@return gpureduce.array # as long as the input
function array:exp2(options) end

---2 to the power of each element; exact for whole ones.
---@param options? gpureduce.exp2.options
---@return gpureduce.expression # as long as the input
function expression:exp2(options) end

---@class gpureduce.expm1.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---e to the power of each element, less 1: as exact near 0 as elsewhere.
---@param a gpureduce.array the input
---@param options? gpureduce.expm1.options
---@return gpureduce.array # as long as the input
function gr.expm1(a, options) end

---e to the power of each element, less 1: as exact near 0 as elsewhere.
---@param options? gpureduce.expm1.options
---@return gpureduce.array # as long as the input
function array:expm1(options) end

---e to the power of each element, less 1: as exact near 0 as elsewhere.
---@param options? gpureduce.expm1.options
---@return gpureduce.expression # as long as the input
function expression:expm1(options) end

---@class gpureduce.log.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The natural logarithm of each element. Of 0 minus infinity, of less NaN.
---@param a gpureduce.array the input
---@param options? gpureduce.log.options
---@return gpureduce.array # as long as the input
function gr.log(a, options) end

---The natural logarithm of each element. Of 0 minus infinity, of less NaN.
---@param options? gpureduce.log.options
---@return gpureduce.array # as long as the input
function array:log(options) end

---The natural logarithm of each element. Of 0 minus infinity, of less NaN.
---@param options? gpureduce.log.options
---@return gpureduce.expression # as long as the input
function expression:log(options) end

---@class gpureduce.log2.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The logarithm to base 2 of each element; exact for powers of 2.
---@param a gpureduce.array the input
---@param options? gpureduce.log2.options
---@return gpureduce.array # as long as the input
function gr.log2(a, options) end

---The logarithm to base 2 of each element; exact for powers of 2.
---@param options? gpureduce.log2.options
---@return gpureduce.array # as long as the input
function array:log2(options) end

---The logarithm to base 2 of each element; exact for powers of 2.
---@param options? gpureduce.log2.options
---@return gpureduce.expression # as long as the input
function expression:log2(options) end

---@class gpureduce.log10.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The logarithm to base 10 of each element.
---@param a gpureduce.array the input
---@param options? gpureduce.log10.options
---@return gpureduce.array # as long as the input
function gr.log10(a, options) end

---The logarithm to base 10 of each element.
---@param options? gpureduce.log10.options
---@return gpureduce.array # as long as the input
function array:log10(options) end

---The logarithm to base 10 of each element.
---@param options? gpureduce.log10.options
---@return gpureduce.expression # as long as the input
function expression:log10(options) end

---@class gpureduce.log1p.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The natural logarithm of 1 + each element: as exact near 0 as elsewhere.
---@param a gpureduce.array the input
---@param options? gpureduce.log1p.options
---@return gpureduce.array # as long as the input
function gr.log1p(a, options) end

---The natural logarithm of 1 + each element: as exact near 0 as elsewhere.
---@param options? gpureduce.log1p.options
---@return gpureduce.array # as long as the input
function array:log1p(options) end

---The natural logarithm of 1 + each element: as exact near 0 as elsewhere.
---@param options? gpureduce.log1p.options
---@return gpureduce.expression # as long as the input
function expression:log1p(options) end

---@class gpureduce.sin.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The sine of each element, in radians of any size: the angle is reduced exactly.
---@param a gpureduce.array the input
---@param options? gpureduce.sin.options
---@return gpureduce.array # as long as the input
function gr.sin(a, options) end

---The sine of each element, in radians of any size: the angle is reduced exactly.
---@param options? gpureduce.sin.options
---@return gpureduce.array # as long as the input
function array:sin(options) end

---The sine of each element, in radians of any size: the angle is reduced exactly.
---@param options? gpureduce.sin.options
---@return gpureduce.expression # as long as the input
function expression:sin(options) end

---@class gpureduce.cos.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The cosine of each element, in radians of any size.
---@param a gpureduce.array the input
---@param options? gpureduce.cos.options
---@return gpureduce.array # as long as the input
function gr.cos(a, options) end

---The cosine of each element, in radians of any size.
---@param options? gpureduce.cos.options
---@return gpureduce.array # as long as the input
function array:cos(options) end

---The cosine of each element, in radians of any size.
---@param options? gpureduce.cos.options
---@return gpureduce.expression # as long as the input
function expression:cos(options) end

---@class gpureduce.tan.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The tangent of each element, in radians of any size.
---@param a gpureduce.array the input
---@param options? gpureduce.tan.options
---@return gpureduce.array # as long as the input
function gr.tan(a, options) end

---The tangent of each element, in radians of any size.
---@param options? gpureduce.tan.options
---@return gpureduce.array # as long as the input
function array:tan(options) end

---The tangent of each element, in radians of any size.
---@param options? gpureduce.tan.options
---@return gpureduce.expression # as long as the input
function expression:tan(options) end

---@class gpureduce.asin.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The angle from -pi/2 to pi/2 whose sine each element is; beyond -1 and 1 NaN.
---@param a gpureduce.array the input
---@param options? gpureduce.asin.options
---@return gpureduce.array # as long as the input
function gr.asin(a, options) end

---The angle from -pi/2 to pi/2 whose sine each element is; beyond -1 and 1 NaN.
---@param options? gpureduce.asin.options
---@return gpureduce.array # as long as the input
function array:asin(options) end

---The angle from -pi/2 to pi/2 whose sine each element is; beyond -1 and 1 NaN.
---@param options? gpureduce.asin.options
---@return gpureduce.expression # as long as the input
function expression:asin(options) end

---@class gpureduce.acos.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The angle from 0 to pi whose cosine each element is; beyond -1 and 1 NaN.
---@param a gpureduce.array the input
---@param options? gpureduce.acos.options
---@return gpureduce.array # as long as the input
function gr.acos(a, options) end

---The angle from 0 to pi whose cosine each element is; beyond -1 and 1 NaN.
---@param options? gpureduce.acos.options
---@return gpureduce.array # as long as the input
function array:acos(options) end

---The angle from 0 to pi whose cosine each element is; beyond -1 and 1 NaN.
---@param options? gpureduce.acos.options
---@return gpureduce.expression # as long as the input
function expression:acos(options) end

---@class gpureduce.atan.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The angle from -pi/2 to pi/2 whose tangent each element is.
---@param a gpureduce.array the input
---@param options? gpureduce.atan.options
---@return gpureduce.array # as long as the input
function gr.atan(a, options) end

---The angle from -pi/2 to pi/2 whose tangent each element is.
---@param options? gpureduce.atan.options
---@return gpureduce.array # as long as the input
function array:atan(options) end

---The angle from -pi/2 to pi/2 whose tangent each element is.
---@param options? gpureduce.atan.options
---@return gpureduce.expression # as long as the input
function expression:atan(options) end

---@class gpureduce.sinh.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The hyperbolic sine of each element.
---@param a gpureduce.array the input
---@param options? gpureduce.sinh.options
---@return gpureduce.array # as long as the input
function gr.sinh(a, options) end

---The hyperbolic sine of each element.
---@param options? gpureduce.sinh.options
---@return gpureduce.array # as long as the input
function array:sinh(options) end

---The hyperbolic sine of each element.
---@param options? gpureduce.sinh.options
---@return gpureduce.expression # as long as the input
function expression:sinh(options) end

---@class gpureduce.cosh.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The hyperbolic cosine of each element.
---@param a gpureduce.array the input
---@param options? gpureduce.cosh.options
---@return gpureduce.array # as long as the input
function gr.cosh(a, options) end

---The hyperbolic cosine of each element.
---@param options? gpureduce.cosh.options
---@return gpureduce.array # as long as the input
function array:cosh(options) end

---The hyperbolic cosine of each element.
---@param options? gpureduce.cosh.options
---@return gpureduce.expression # as long as the input
function expression:cosh(options) end

---@class gpureduce.tanh.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The hyperbolic tangent of each element.
---@param a gpureduce.array the input
---@param options? gpureduce.tanh.options
---@return gpureduce.array # as long as the input
function gr.tanh(a, options) end

---The hyperbolic tangent of each element.
---@param options? gpureduce.tanh.options
---@return gpureduce.array # as long as the input
function array:tanh(options) end

---The hyperbolic tangent of each element.
---@param options? gpureduce.tanh.options
---@return gpureduce.expression # as long as the input
function expression:tanh(options) end

---@class gpureduce.atan2.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The angle of the point (b, a): atan(a / b), in the quadrant of both signs, as `math.atan(a, b)`.
---@param a gpureduce.array|number
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.atan2.options
---@return gpureduce.array # as long as the input
function gr.atan2(a, b, options) end

---The angle of the point (b, a): atan(a / b), in the quadrant of both signs, as `math.atan(a, b)`.
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.atan2.options
---@return gpureduce.array # as long as the input
function array:atan2(b, options) end

---The angle of the point (b, a): atan(a / b), in the quadrant of both signs, as `math.atan(a, b)`.
---@param b gpureduce.array|gpureduce.expression|number at least one of the two is an array
---@param options? gpureduce.atan2.options
---@return gpureduce.expression # as long as the input
function expression:atan2(b, options) end

---@class gpureduce.hypot.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---sqrt(a^2 + b^2), without overflow on the way.
---@param a gpureduce.array|number
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.hypot.options
---@return gpureduce.array # as long as the input
function gr.hypot(a, b, options) end

---sqrt(a^2 + b^2), without overflow on the way.
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.hypot.options
---@return gpureduce.array # as long as the input
function array:hypot(b, options) end

---sqrt(a^2 + b^2), without overflow on the way.
---@param b gpureduce.array|gpureduce.expression|number at least one of the two is an array
---@param options? gpureduce.hypot.options
---@return gpureduce.expression # as long as the input
function expression:hypot(b, options) end

---@class gpureduce.pow.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---a to the power b; `a ^ b`. What has no value, as (-8)^(1/3), is NaN; x^0 and 1^x are 1 for every x. Powers 2, 3 and 4
---are products, -1 is the quotient, 1/2 the root.
---@param a gpureduce.array|number
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.pow.options
---@return gpureduce.array # as long as the input
function gr.pow(a, b, options) end

---a to the power b; `a ^ b`. What has no value, as (-8)^(1/3), is NaN; x^0 and 1^x are 1 for every x. Powers 2, 3 and 4
---are products, -1 is the quotient, 1/2 the root.
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.pow.options
---@return gpureduce.array # as long as the input
function array:pow(b, options) end

---@class gpureduce.mod.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The remainder of a / b with the sign of b, as Lua's `%`; exact before the sign is put right. A remainder of 0 keeps
---the sign of a. By 0: NaN, of integers 0.
---@param a gpureduce.array|number
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.mod.options
---@return gpureduce.array # as long as the input
function gr.mod(a, b, options) end

---The remainder of a / b with the sign of b, as Lua's `%`; exact before the sign is put right. A remainder of 0 keeps
---the sign of a. By 0: NaN, of integers 0.
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.mod.options
---@return gpureduce.array # as long as the input
function array:mod(b, options) end

---The remainder of a / b with the sign of b, as Lua's `%`; exact before the sign is put right. A remainder of 0 keeps
---the sign of a. By 0: NaN, of integers 0.
---@param b gpureduce.array|gpureduce.expression|number at least one of the two is an array
---@param options? gpureduce.mod.options
---@return gpureduce.expression # as long as the input
function expression:mod(b, options) end

---@class gpureduce.fmod.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The remainder of a / b with the sign of a, as `math.fmod`; exact. By 0: NaN, of integers 0.
---@param a gpureduce.array|number
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.fmod.options
---@return gpureduce.array # as long as the input
function gr.fmod(a, b, options) end

---The remainder of a / b with the sign of a, as `math.fmod`; exact. By 0: NaN, of integers 0.
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.fmod.options
---@return gpureduce.array # as long as the input
function array:fmod(b, options) end

---The remainder of a / b with the sign of a, as `math.fmod`; exact. By 0: NaN, of integers 0.
---@param b gpureduce.array|gpureduce.expression|number at least one of the two is an array
---@param options? gpureduce.fmod.options
---@return gpureduce.expression # as long as the input
function expression:fmod(b, options) end

---@class gpureduce.floordiv.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The quotient rounded down, as Lua's `//`. By 0: of floats as `/`, of integers 0.
---@param a gpureduce.array|number
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.floordiv.options
---@return gpureduce.array # as long as the input
function gr.floordiv(a, b, options) end

---The quotient rounded down, as Lua's `//`. By 0: of floats as `/`, of integers 0.
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.floordiv.options
---@return gpureduce.array # as long as the input
function array:floordiv(b, options) end

---The quotient rounded down, as Lua's `//`. By 0: of floats as `/`, of integers 0.
---@param b gpureduce.array|gpureduce.expression|number at least one of the two is an array
---@param options? gpureduce.floordiv.options
---@return gpureduce.expression # as long as the input
function expression:floordiv(b, options) end

---@class gpureduce.minimum.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The smaller of each pair; NaN if one is. -0.0 is below 0.0.
---@param a gpureduce.array|number
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.minimum.options
---@return gpureduce.array # as long as the input
function gr.minimum(a, b, options) end

---The smaller of each pair; NaN if one is. -0.0 is below 0.0.
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.minimum.options
---@return gpureduce.array # as long as the input
function array:minimum(b, options) end

---The smaller of each pair; NaN if one is. -0.0 is below 0.0.
---@param b gpureduce.array|gpureduce.expression|number at least one of the two is an array
---@param options? gpureduce.minimum.options
---@return gpureduce.expression # as long as the input
function expression:minimum(b, options) end

---@class gpureduce.maximum.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The larger of each pair; NaN if one is.
---@param a gpureduce.array|number
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.maximum.options
---@return gpureduce.array # as long as the input
function gr.maximum(a, b, options) end

---The larger of each pair; NaN if one is.
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.maximum.options
---@return gpureduce.array # as long as the input
function array:maximum(b, options) end

---The larger of each pair; NaN if one is.
---@param b gpureduce.array|gpureduce.expression|number at least one of the two is an array
---@param options? gpureduce.maximum.options
---@return gpureduce.expression # as long as the input
function expression:maximum(b, options) end

---@class gpureduce.floor.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The largest whole number that is not above each element.
---@param a gpureduce.array the input
---@param options? gpureduce.floor.options
---@return gpureduce.array # as long as the input
function gr.floor(a, options) end

---The largest whole number that is not above each element.
---@param options? gpureduce.floor.options
---@return gpureduce.array # as long as the input
function array:floor(options) end

---The largest whole number that is not above each element.
---@param options? gpureduce.floor.options
---@return gpureduce.expression # as long as the input
function expression:floor(options) end

---@class gpureduce.ceil.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The smallest whole number that is not below each element.
---@param a gpureduce.array the input
---@param options? gpureduce.ceil.options
---@return gpureduce.array # as long as the input
function gr.ceil(a, options) end

---The smallest whole number that is not below each element.
---@param options? gpureduce.ceil.options
---@return gpureduce.array # as long as the input
function array:ceil(options) end

---The smallest whole number that is not below each element.
---@param options? gpureduce.ceil.options
---@return gpureduce.expression # as long as the input
function expression:ceil(options) end

---@class gpureduce.round.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The whole number nearest to each element; of two the even one, as IEEE 754 and NumPy have it.
---@param a gpureduce.array the input
---@param options? gpureduce.round.options
---@return gpureduce.array # as long as the input
function gr.round(a, options) end

---The whole number nearest to each element; of two the even one, as IEEE 754 and NumPy have it.
---@param options? gpureduce.round.options
---@return gpureduce.array # as long as the input
function array:round(options) end

---The whole number nearest to each element; of two the even one, as IEEE 754 and NumPy have it.
---@param options? gpureduce.round.options
---@return gpureduce.expression # as long as the input
function expression:round(options) end

---@class gpureduce.trunc.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---Each element without its fraction.
---@param a gpureduce.array the input
---@param options? gpureduce.trunc.options
---@return gpureduce.array # as long as the input
function gr.trunc(a, options) end

---Each element without its fraction.
---@param options? gpureduce.trunc.options
---@return gpureduce.array # as long as the input
function array:trunc(options) end

---Each element without its fraction.
---@param options? gpureduce.trunc.options
---@return gpureduce.expression # as long as the input
function expression:trunc(options) end

---@class gpureduce.sign.options
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---1, -1, or the element itself where it is 0, -0.0 or NaN.
---@param a gpureduce.array the input
---@param options? gpureduce.sign.options
---@return gpureduce.array # as long as the input
function gr.sign(a, options) end

---1, -1, or the element itself where it is 0, -0.0 or NaN.
---@param options? gpureduce.sign.options
---@return gpureduce.array # as long as the input
function array:sign(options) end

---1, -1, or the element itself where it is 0, -0.0 or NaN.
---@param options? gpureduce.sign.options
---@return gpureduce.expression # as long as the input
function expression:sign(options) end

---@class gpureduce.band.options
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The bits that both have; `a & b`.
---@param a gpureduce.array|number
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.band.options
---@return gpureduce.array # as long as the input
function gr.band(a, b, options) end

---The bits that both have; `a & b`.
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.band.options
---@return gpureduce.array # as long as the input
function array:band(b, options) end

---The bits that both have; `a & b`.
---@param b gpureduce.array|gpureduce.expression|number at least one of the two is an array
---@param options? gpureduce.band.options
---@return gpureduce.expression # as long as the input
function expression:band(b, options) end

---@class gpureduce.bor.options
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The bits that one has; `a | b`.
---@param a gpureduce.array|number
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.bor.options
---@return gpureduce.array # as long as the input
function gr.bor(a, b, options) end

---The bits that one has; `a | b`.
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.bor.options
---@return gpureduce.array # as long as the input
function array:bor(b, options) end

---The bits that one has; `a | b`.
---@param b gpureduce.array|gpureduce.expression|number at least one of the two is an array
---@param options? gpureduce.bor.options
---@return gpureduce.expression # as long as the input
function expression:bor(b, options) end

---@class gpureduce.bxor.options
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The bits that only one has; `a ~ b`.
---@param a gpureduce.array|number
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.bxor.options
---@return gpureduce.array # as long as the input
function gr.bxor(a, b, options) end

---The bits that only one has; `a ~ b`.
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.bxor.options
---@return gpureduce.array # as long as the input
function array:bxor(b, options) end

---The bits that only one has; `a ~ b`.
---@param b gpureduce.array|gpureduce.expression|number at least one of the two is an array
---@param options? gpureduce.bxor.options
---@return gpureduce.expression # as long as the input
function expression:bxor(b, options) end

---@class gpureduce.bnot.options
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---All bits the other way; `~a`.
---@param a gpureduce.array the input
---@param options? gpureduce.bnot.options
---@return gpureduce.array # as long as the input
function gr.bnot(a, options) end

---All bits the other way; `~a`.
---@param options? gpureduce.bnot.options
---@return gpureduce.array # as long as the input
function array:bnot(options) end

---All bits the other way; `~a`.
---@param options? gpureduce.bnot.options
---@return gpureduce.expression # as long as the input
function expression:bnot(options) end

---@class gpureduce.shl.options
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The bits b places up, zeros after them; `a << b`. As in Lua: a negative b shifts down, and the dtype's width or more
---leaves 0.
---@param a gpureduce.array|number
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.shl.options
---@return gpureduce.array # as long as the input
function gr.shl(a, b, options) end

---The bits b places up, zeros after them; `a << b`. As in Lua: a negative b shifts down, and the dtype's width or more
---leaves 0.
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.shl.options
---@return gpureduce.array # as long as the input
function array:shl(b, options) end

---The bits b places up, zeros after them; `a << b`. As in Lua: a negative b shifts down, and the dtype's width or more
---leaves 0.
---@param b gpureduce.array|gpureduce.expression|number at least one of the two is an array
---@param options? gpureduce.shl.options
---@return gpureduce.expression # as long as the input
function expression:shl(b, options) end

---@class gpureduce.shr.options
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The bits b places down, zeros before them, of negative integers too; `a >> b`. A negative b shifts up, and the
---dtype's width or more leaves 0.
---@param a gpureduce.array|number
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.shr.options
---@return gpureduce.array # as long as the input
function gr.shr(a, b, options) end

---The bits b places down, zeros before them, of negative integers too; `a >> b`. A negative b shifts up, and the
---dtype's width or more leaves 0.
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.shr.options
---@return gpureduce.array # as long as the input
function array:shr(b, options) end

---The bits b places down, zeros before them, of negative integers too; `a >> b`. A negative b shifts up, and the
---dtype's width or more leaves 0.
---@param b gpureduce.array|gpureduce.expression|number at least one of the two is an array
---@param options? gpureduce.shr.options
---@return gpureduce.expression # as long as the input
function expression:shr(b, options) end

---@class gpureduce.isnan.options
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---1 where an element is NaN, 0 elsewhere.
---@param a gpureduce.array the input
---@param options? gpureduce.isnan.options
---@return gpureduce.array # as long as the input
function gr.isnan(a, options) end

---1 where an element is NaN, 0 elsewhere.
---@param options? gpureduce.isnan.options
---@return gpureduce.array # as long as the input
function array:isnan(options) end

---1 where an element is NaN, 0 elsewhere.
---@param options? gpureduce.isnan.options
---@return gpureduce.expression # as long as the input
function expression:isnan(options) end

---@class gpureduce.isinf.options
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---1 where an element is infinite, 0 elsewhere.
---@param a gpureduce.array the input
---@param options? gpureduce.isinf.options
---@return gpureduce.array # as long as the input
function gr.isinf(a, options) end

---1 where an element is infinite, 0 elsewhere.
---@param options? gpureduce.isinf.options
---@return gpureduce.array # as long as the input
function array:isinf(options) end

---1 where an element is infinite, 0 elsewhere.
---@param options? gpureduce.isinf.options
---@return gpureduce.expression # as long as the input
function expression:isinf(options) end

---@class gpureduce.isfinite.options
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---1 where an element is neither infinite nor NaN, 0 elsewhere.
---@param a gpureduce.array the input
---@param options? gpureduce.isfinite.options
---@return gpureduce.array # as long as the input
function gr.isfinite(a, options) end

---1 where an element is neither infinite nor NaN, 0 elsewhere.
---@param options? gpureduce.isfinite.options
---@return gpureduce.array # as long as the input
function array:isfinite(options) end

---1 where an element is neither infinite nor NaN, 0 elsewhere.
---@param options? gpureduce.isfinite.options
---@return gpureduce.expression # as long as the input
function expression:isfinite(options) end

---@class gpureduce.land.options
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---1 where both are not 0, 0 elsewhere; NaN is not 0.
---@param a gpureduce.array|number
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.land.options
---@return gpureduce.array # as long as the input
function gr.land(a, b, options) end

---1 where both are not 0, 0 elsewhere; NaN is not 0.
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.land.options
---@return gpureduce.array # as long as the input
function array:land(b, options) end

---@class gpureduce.lor.options
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---1 where one is not 0, 0 elsewhere.
---@param a gpureduce.array|number
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.lor.options
---@return gpureduce.array # as long as the input
function gr.lor(a, b, options) end

---1 where one is not 0, 0 elsewhere.
---@param b gpureduce.array|number at least one of the two is an array
---@param options? gpureduce.lor.options
---@return gpureduce.array # as long as the input
function array:lor(b, options) end

---@class gpureduce.lnot.options
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---1 where an element is 0, 0 elsewhere.
---@param a gpureduce.array the input
---@param options? gpureduce.lnot.options
---@return gpureduce.array # as long as the input
function gr.lnot(a, options) end

---1 where an element is 0, 0 elsewhere.
---@param options? gpureduce.lnot.options
---@return gpureduce.array # as long as the input
function array:lnot(options) end

---@class gpureduce.clamp.options
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---Each element, or the end of the range that it lies beyond. NaN stays NaN.
---@param a gpureduce.array the input
---@param low? number|gpureduce.array no lower end without it; of an array an end for each element, also as a row or a column of a matrix
---@param high? number|gpureduce.array no upper end without it
---@param options? gpureduce.clamp.options
---@return gpureduce.array # as long as the input
---@overload fun(a: gpureduce.array, options: gpureduce.clamp.options): gpureduce.array
function gr.clamp(a, low, high, options) end

---Each element, or the end of the range that it lies beyond. NaN stays NaN.
---@param low? number|gpureduce.array no lower end without it; of an array an end for each element, also as a row or a column of a matrix
---@param high? number|gpureduce.array no upper end without it
---@param options? gpureduce.clamp.options
---@return gpureduce.array # as long as the input
---@overload fun(options: gpureduce.clamp.options): gpureduce.array
function array:clamp(low, high, options) end

---Each element, or the end of the range that it lies beyond. NaN stays NaN.
---@param low? number|gpureduce.array no lower end without it; of an array an end for each element, also as a row or a column of a matrix
---@param high? number|gpureduce.array no upper end without it
---@param options? gpureduce.clamp.options
---@return gpureduce.expression # as long as the input
---@overload fun(options: gpureduce.clamp.options): gpureduce.expression
function expression:clamp(low, high, options) end

---@class gpureduce.cast.options
---@field dtype? gpureduce.dtype what else stands before the options
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---The elements in another type.
---@param a gpureduce.array the input
---@param dtype? gpureduce.dtype the type of the result; needed, here or in the options
---@param options? gpureduce.cast.options
---@return gpureduce.array # as long as the input
---@overload fun(a: gpureduce.array, options: gpureduce.cast.options): gpureduce.array
function gr.cast(a, dtype, options) end

---The elements in another type.
---@param dtype? gpureduce.dtype the type of the result; needed, here or in the options
---@param options? gpureduce.cast.options
---@return gpureduce.array # as long as the input
---@overload fun(options: gpureduce.cast.options): gpureduce.array
function array:cast(dtype, options) end

---The elements in another type.
---@param dtype? gpureduce.dtype the type of the result; needed, here or in the options
---@param options? gpureduce.cast.options
---@return gpureduce.expression # as long as the input
---@overload fun(options: gpureduce.cast.options): gpureduce.expression
function expression:cast(dtype, options) end

---@class gpureduce.compare.options
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---A mask: 1 where the comparison holds, 0 elsewhere.
---@param a gpureduce.array the input
---@param op string `"<"`, `"<="`, `"=="`, `"~="`, `">="` or `">"`
---@param b gpureduce.array|number what each element is compared with
---@param options? gpureduce.compare.options
---@return gpureduce.array # of u8, as long as the input
function gr.compare(a, op, b, options) end

---A mask: 1 where the comparison holds, 0 elsewhere.
---@param op string `"<"`, `"<="`, `"=="`, `"~="`, `">="` or `">"`
---@param b gpureduce.array|number what each element is compared with
---@param options? gpureduce.compare.options
---@return gpureduce.array # of u8, as long as the input
function array:compare(op, b, options) end

---A mask: 1 where the comparison holds, 0 elsewhere.
---@param op string `"<"`, `"<="`, `"=="`, `"~="`, `">="` or `">"`
---@param b gpureduce.array|gpureduce.expression|number what each element is compared with
---@param options? gpureduce.compare.options
---@return gpureduce.expression # of u8, as long as the input
function expression:compare(op, b, options) end

---@class gpureduce.where.options
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---Elements of one array where a mask is not zero, of another elsewhere.
---@param mask gpureduce.array of u8
---@param a gpureduce.array|number what is taken where the mask is not zero
---@param b gpureduce.array|number what is taken where it is
---@param options? gpureduce.where.options
---@return gpureduce.array # as long as the mask; of the arrays' dtype. Of two numbers: that of `into`, else f32
function gr.where(mask, a, b, options) end

---Elements of one array where a mask is not zero, of another elsewhere.
---@param a gpureduce.array|number what is taken where the mask is not zero
---@param b gpureduce.array|number what is taken where it is
---@param options? gpureduce.where.options
---@return gpureduce.array # as long as the mask; of the arrays' dtype. Of two numbers: that of `into`, else f32
function array:where(a, b, options) end

---Elements of one array where a mask is not zero, of another elsewhere.
---@param a gpureduce.array|gpureduce.expression|number what is taken where the mask is not zero
---@param b gpureduce.array|gpureduce.expression|number what is taken where it is
---@param options? gpureduce.where.options
---@return gpureduce.expression # as long as the mask; of the arrays' dtype. Of two numbers: that of `into`, else f32
function expression:where(a, b, options) end

---@class gpureduce.compact.options
---the array whose first elements take the result: of the input's dtype, and long enough for what is kept. It may be the
---input itself
---@field into? gpureduce.array

---The elements whose mask is not zero, in their order.
---@param a gpureduce.array the input
---@param mask gpureduce.array of u8, as long as the input
---@param options? gpureduce.compact.options
---@return gpureduce.array # the elements kept: `#` says how many. With `into` it is a view of its first elements
function gr.compact(a, mask, options) end

---The elements whose mask is not zero, in their order.
---@param mask gpureduce.array of u8, as long as the input
---@param options? gpureduce.compact.options
---@return gpureduce.array # the elements kept: `#` says how many. With `into` it is a view of its first elements
function array:compact(mask, options) end

---The elements whose mask is not zero, in their order.
---@param mask gpureduce.array|gpureduce.expression of u8, as long as the input
---@param options? gpureduce.compact.options
---@return gpureduce.array # the elements kept: `#` says how many. With `into` it is a view of its first elements
function expression:compact(mask, options) end

---@class gpureduce.take.options
---the array that takes the elements: of the input's dtype, as long as the index. It may be the index itself, but share
---nothing with the input
---@field into? gpureduce.array

---The elements at some positions, in the order of these: the result's element k is `a[index[k]]`. `a[index]` is the
---same for every dtype of index but u8, which is a mask there.
---@param a gpureduce.array the input
---@param index gpureduce.array positions, of any integer dtype: from 1, negative ones from the end
---@param options? gpureduce.take.options
---@return gpureduce.array # as long as the index, of the input's dtype; a matrix where the index is one
function gr.take(a, index, options) end

---The elements at some positions, in the order of these: the result's element k is `a[index[k]]`. `a[index]` is the
---same for every dtype of index but u8, which is a mask there.
---@param index gpureduce.array positions, of any integer dtype: from 1, negative ones from the end
---@param options? gpureduce.take.options
---@return gpureduce.array # as long as the index, of the input's dtype; a matrix where the index is one
function array:take(index, options) end

---The elements at some positions, in the order of these: the result's element k is `a[index[k]]`. `a[index]` is the
---same for every dtype of index but u8, which is a mask there.
---@param index gpureduce.array|gpureduce.expression positions, of any integer dtype: from 1, negative ones from the end
---@param options? gpureduce.take.options
---@return gpureduce.array # as long as the index, of the input's dtype; a matrix where the index is one
function expression:take(index, options) end

---@class gpureduce.put.options
---@field op? "set"|"add"|"min"|"max" what becomes of an element; default `"set"`

---Put values to the elements at some positions. `op` says what becomes of the element and all values for it: `"set"`:
---the last of the values; `"add"`: their sum and the element; `"min"`, `"max"`: the least or greatest of them and the
---element. Sums of floats have the same bits in whatever order values come: those for one element are added up exactly
---(docs/numerics.md, as weights of histograms are), and their sum to the element, rounded once; where it is 0 the
---element stays as it is. `a[index] = v` sets for every dtype of index but u8, which is a mask there.
---@param a gpureduce.array what is written
---@param index gpureduce.array positions, of any integer dtype: from 1, negative ones from the end
---@param v gpureduce.array|number the values: as many as positions, of a's dtype; or one number for all
---@param options? gpureduce.put.options
---@return gpureduce.array # the array itself
function gr.put(a, index, v, options) end

---Put values to the elements at some positions. `op` says what becomes of the element and all values for it: `"set"`:
---the last of the values; `"add"`: their sum and the element; `"min"`, `"max"`: the least or greatest of them and the
---element. Sums of floats have the same bits in whatever order values come: those for one element are added up exactly
---(docs/numerics.md, as weights of histograms are), and their sum to the element, rounded once; where it is 0 the
---element stays as it is. `a[index] = v` sets for every dtype of index but u8, which is a mask there.
---@param index gpureduce.array positions, of any integer dtype: from 1, negative ones from the end
---@param v gpureduce.array|number the values: as many as positions, of a's dtype; or one number for all
---@param options? gpureduce.put.options
---@return gpureduce.array # the array itself
function array:put(index, v, options) end

---Read a formula. Its inputs come when it is called: `f{name = value, ...}`, each an array, a number or an expression,
---all arrays of one length on one device. `n` is their length; where no array says it, give it.
---@param text string up to 65536 characters, 4096 parts, 256 names, 64 arrays, and 200 operators one within another
---@return gpureduce.formula #
function gr.fuse(text) end

---An expression of an array's elements, for formulas by operators and methods instead of a text.
---@param a gpureduce.array|gpureduce.expression an expression is given back as it is
---@return gpureduce.expression #
function gr.lazy(a) end

---An expression of an array's elements, for formulas by operators and methods instead of a text.
---@return gpureduce.expression #
function array:lazy() end

---@class gpureduce.expression.eval.options
---the array that takes them: of its dtype and length; one of the inputs, unless that is a `scalar`, `row` or `column`,
---or nothing that the inputs share
---@field into? gpureduce.array

---Compute all elements.
---@param options? gpureduce.expression.eval.options
---@return gpureduce.array #
function expression:eval(options) end

---What it does, a line a step: its number, dtype, operator and operands, where `#1` is a number. Not yet computed parts
---that are the same are one step.
---@return string #
function expression:steps() end

---What is known of it.
---@return table # `dtype`, `n` and `steps`, how many there are; of a matrix `rows` and `columns`
function expression:info() end

---Let go of its arrays, without waiting for the collector.
function expression:release() end

---Where its elements are `< x`: a mask, u8.
---@param x gpureduce.array|number|gpureduce.expression as long as it, of the same dtype
---@return gpureduce.expression # u8, 1 or 0
function expression:lt(x) end

---Where its elements are `<= x`: a mask, u8.
---@param x gpureduce.array|number|gpureduce.expression as long as it, of the same dtype
---@return gpureduce.expression # u8, 1 or 0
function expression:le(x) end

---Where its elements are `== x`: a mask, u8.
---@param x gpureduce.array|number|gpureduce.expression as long as it, of the same dtype
---@return gpureduce.expression # u8, 1 or 0
function expression:eq(x) end

---Where its elements are `~= x`: a mask, u8.
---@param x gpureduce.array|number|gpureduce.expression as long as it, of the same dtype
---@return gpureduce.expression # u8, 1 or 0
function expression:ne(x) end

---Where its elements are `>= x`: a mask, u8.
---@param x gpureduce.array|number|gpureduce.expression as long as it, of the same dtype
---@return gpureduce.expression # u8, 1 or 0
function expression:ge(x) end

---Where its elements are `> x`: a mask, u8.
---@param x gpureduce.array|number|gpureduce.expression as long as it, of the same dtype
---@return gpureduce.expression # u8, 1 or 0
function expression:gt(x) end

---Where it and x are not zero: `and` in a formula.
---@param x gpureduce.array|number|gpureduce.expression as long as it, of the same dtype
---@return gpureduce.expression # u8, 1 or 0
function expression:land(x) end

---Where it or x is not zero: `or` in a formula.
---@param x gpureduce.array|number|gpureduce.expression as long as it, of the same dtype
---@return gpureduce.expression # u8, 1 or 0
function expression:lor(x) end

---Where it is zero: `not` in a formula.
---@return gpureduce.expression # u8, 1 or 0
function expression:lnot() end

---Its elements to a power; `e ^ y`, as `gr.pow` has it.
---@param y number the exponent
---@return gpureduce.expression # floats; of integers f64
function expression:pow(y) end

---@class gpureduce.sum.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---m + 1 positions that do not fall (i64 or i32): result k is that of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`.
---They are read on the host, so keep them there; no `rows` with them
---@field segments? gpureduce.array|integer[]
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---how float sums are kept: `"f64"`, `"f32"`, `"kahan"` or `"neumaier"` (docs/numerics.md); default `"f64"`
---@field accumulate? string
---run the kernel of this name instead of the usual one (`gr.kernels` lists them; [docs/ladder.md](ladder.md) explains
---them); with rows: one launch a row
---@field kernel? string
---@field block? integer threads in a block of that kernel, 64 to 1024; default 256
---with `kernel`: the seconds between two events of the device around the kernels come as a second result; a number: the
---mean of so many runs; default false
---@field timed? boolean|integer
---@field exact? boolean round the true value once, whatever the order (docs/exact.md); default what `gr.exact` says
---`"f32"`: results of f64 rounded once to f32, and arrays of it; with `exact` rounded straight from the true value;
---default `"f64"`
---@field out? string
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---with `into`: the number stays on the device, as element `at` of that array (of the result's dtype; for floats f64 or
---f32), which is returned; negative counts from the end
---@field at? integer
---@field async? boolean give a future instead; default false
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---The sum of the elements.
---@param a gpureduce.array the input
---@param options? gpureduce.sum.options how to read it
---@return number|gpureduce.array # the sum, an integer for integer dtypes; 0 for none. With `rows` or `axis` one result for each row or column: f64, or i64 for integers
---@overload fun(a: gpureduce.array): number
function gr.sum(a, options) end

---The sum of the elements.
---@param options? gpureduce.sum.options how to read it
---@return number|gpureduce.array # the sum, an integer for integer dtypes; 0 for none. With `rows` or `axis` one result for each row or column: f64, or i64 for integers
---@overload fun(): number
function array:sum(options) end

---The sum of the elements.
---@param options? gpureduce.sum.options how to read it
---@return number|gpureduce.array # the sum, an integer for integer dtypes; 0 for none. With `rows` or `axis` one result for each row or column: f64, or i64 for integers
---@overload fun(): number
function expression:sum(options) end

---@class gpureduce.prod.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---m + 1 positions that do not fall (i64 or i32): result k is that of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`.
---They are read on the host, so keep them there; no `rows` with them
---@field segments? gpureduce.array|integer[]
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---`"f32"`: results of f64 rounded once to f32, and arrays of it; with `exact` rounded straight from the true value;
---default `"f64"`
---@field out? string
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---with `into`: the number stays on the device, as element `at` of that array (of the result's dtype; for floats f64 or
---f32), which is returned; negative counts from the end
---@field at? integer
---@field async? boolean give a future instead; default false
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---The product of the elements.
---@param a gpureduce.array the input
---@param options? gpureduce.prod.options how to read it
---@return number|gpureduce.array # the product; 1 for none. With `rows` or `axis` one result for each row or column: f64, or i64 for integers
---@overload fun(a: gpureduce.array): number
function gr.prod(a, options) end

---The product of the elements.
---@param options? gpureduce.prod.options how to read it
---@return number|gpureduce.array # the product; 1 for none. With `rows` or `axis` one result for each row or column: f64, or i64 for integers
---@overload fun(): number
function array:prod(options) end

---The product of the elements.
---@param options? gpureduce.prod.options how to read it
---@return number|gpureduce.array # the product; 1 for none. With `rows` or `axis` one result for each row or column: f64, or i64 for integers
---@overload fun(): number
function expression:prod(options) end

---@class gpureduce.mean.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---m + 1 positions that do not fall (i64 or i32): result k is that of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`.
---They are read on the host, so keep them there; no `rows` with them
---@field segments? gpureduce.array|integer[]
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---@field exact? boolean round the true value once, whatever the order (docs/exact.md); default what `gr.exact` says
---`"f32"`: results of f64 rounded once to f32, and arrays of it; with `exact` rounded straight from the true value;
---default `"f64"`
---@field out? string
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---with `into`: the number stays on the device, as element `at` of that array (of the result's dtype; for floats f64 or
---f32), which is returned; negative counts from the end
---@field at? integer
---@field async? boolean give a future instead; default false
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---The mean of the elements; of integers from a sum that does not wrap.
---@param a gpureduce.array the input
---@param options? gpureduce.mean.options how to read it
---@return number|gpureduce.array # a float; NaN for none. With `rows` or `axis` one result for each row or column: f64
---@overload fun(a: gpureduce.array): number
function gr.mean(a, options) end

---The mean of the elements; of integers from a sum that does not wrap.
---@param options? gpureduce.mean.options how to read it
---@return number|gpureduce.array # a float; NaN for none. With `rows` or `axis` one result for each row or column: f64
---@overload fun(): number
function array:mean(options) end

---The mean of the elements; of integers from a sum that does not wrap.
---@param options? gpureduce.mean.options how to read it
---@return number|gpureduce.array # a float; NaN for none. With `rows` or `axis` one result for each row or column: f64
---@overload fun(): number
function expression:mean(options) end

---@class gpureduce.var.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---m + 1 positions that do not fall (i64 or i32): result k is that of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`.
---They are read on the host, so keep them there; no `rows` with them
---@field segments? gpureduce.array|integer[]
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---@field ddof? number what is subtracted from n in the divisor (1 for a sample's variance); default 0
---@field exact? boolean round the true value once, whatever the order (docs/exact.md); default what `gr.exact` says
---`"f32"`: results of f64 rounded once to f32, and arrays of it; with `exact` rounded straight from the true value;
---default `"f64"`
---@field out? string
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---with `into`: the number stays on the device, as element `at` of that array (of the result's dtype; for floats f64 or
---f32), which is returned; negative counts from the end
---@field at? integer
---@field async? boolean give a future instead; default false
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---The variance: the mean of the squared distances from the mean. Large means do not spoil it.
---@param a gpureduce.array the input
---@param options? gpureduce.var.options how to read it
---@return number|gpureduce.array # a float; NaN for none. With `rows` or `axis` one result for each row or column: f64
---@overload fun(a: gpureduce.array): number
function gr.var(a, options) end

---The variance: the mean of the squared distances from the mean. Large means do not spoil it.
---@param options? gpureduce.var.options how to read it
---@return number|gpureduce.array # a float; NaN for none. With `rows` or `axis` one result for each row or column: f64
---@overload fun(): number
function array:var(options) end

---The variance: the mean of the squared distances from the mean. Large means do not spoil it.
---@param options? gpureduce.var.options how to read it
---@return number|gpureduce.array # a float; NaN for none. With `rows` or `axis` one result for each row or column: f64
---@overload fun(): number
function expression:var(options) end

---@class gpureduce.std.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---m + 1 positions that do not fall (i64 or i32): result k is that of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`.
---They are read on the host, so keep them there; no `rows` with them
---@field segments? gpureduce.array|integer[]
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---@field ddof? number what is subtracted from n in the divisor (1 for a sample's variance); default 0
---@field exact? boolean round the true value once, whatever the order (docs/exact.md); default what `gr.exact` says
---`"f32"`: results of f64 rounded once to f32, and arrays of it; with `exact` rounded straight from the true value;
---default `"f64"`
---@field out? string
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---with `into`: the number stays on the device, as element `at` of that array (of the result's dtype; for floats f64 or
---f32), which is returned; negative counts from the end
---@field at? integer
---@field async? boolean give a future instead; default false
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---The standard deviation: the square root of the variance.
---@param a gpureduce.array the input
---@param options? gpureduce.std.options how to read it
---@return number|gpureduce.array # a float; NaN for none. With `rows` or `axis` one result for each row or column: f64
---@overload fun(a: gpureduce.array): number
function gr.std(a, options) end

---The standard deviation: the square root of the variance.
---@param options? gpureduce.std.options how to read it
---@return number|gpureduce.array # a float; NaN for none. With `rows` or `axis` one result for each row or column: f64
---@overload fun(): number
function array:std(options) end

---The standard deviation: the square root of the variance.
---@param options? gpureduce.std.options how to read it
---@return number|gpureduce.array # a float; NaN for none. With `rows` or `axis` one result for each row or column: f64
---@overload fun(): number
function expression:std(options) end

---@class gpureduce.logsumexp.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---m + 1 positions that do not fall (i64 or i32): result k is that of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`.
---They are read on the host, so keep them there; no `rows` with them
---@field segments? gpureduce.array|integer[]
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---`"f32"`: results of f64 rounded once to f32, and arrays of it; with `exact` rounded straight from the true value;
---default `"f64"`
---@field out? string
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---with `into`: the number stays on the device, as element `at` of that array (of the result's dtype; for floats f64 or
---f32), which is returned; negative counts from the end
---@field at? integer
---@field async? boolean give a future instead; default false
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---The logarithm of the sum of e^x, in one pass: terms are scaled by the largest element so far, so that none overflows:
---the way to add probabilities that are kept as logarithms.
---@param a gpureduce.array the input
---@param options? gpureduce.logsumexp.options how to read it
---@return number|gpureduce.array # a float; -inf for none, and where all elements are -inf; inf where one is. With `rows` or `axis` one result for each row or column: f64
---@overload fun(a: gpureduce.array): number
function gr.logsumexp(a, options) end

---The logarithm of the sum of e^x, in one pass: terms are scaled by the largest element so far, so that none overflows:
---the way to add probabilities that are kept as logarithms.
---@param options? gpureduce.logsumexp.options how to read it
---@return number|gpureduce.array # a float; -inf for none, and where all elements are -inf; inf where one is. With `rows` or `axis` one result for each row or column: f64
---@overload fun(): number
function array:logsumexp(options) end

---The logarithm of the sum of e^x, in one pass: terms are scaled by the largest element so far, so that none overflows:
---the way to add probabilities that are kept as logarithms.
---@param options? gpureduce.logsumexp.options how to read it
---@return number|gpureduce.array # a float; -inf for none, and where all elements are -inf; inf where one is. With `rows` or `axis` one result for each row or column: f64
---@overload fun(): number
function expression:logsumexp(options) end

---@class gpureduce.min.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---m + 1 positions that do not fall (i64 or i32): result k is that of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`.
---They are read on the host, so keep them there; no `rows` with them
---@field segments? gpureduce.array|integer[]
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---run the kernel of this name instead of the usual one (`gr.kernels` lists them; [docs/ladder.md](ladder.md) explains
---them); with rows: one launch a row
---@field kernel? string
---@field block? integer threads in a block of that kernel, 64 to 1024; default 256
---with `kernel`: the seconds between two events of the device around the kernels come as a second result; a number: the
---mean of so many runs; default false
---@field timed? boolean|integer
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---with `into`: the number stays on the device, as element `at` of that array (of the result's dtype; for floats f64 or
---f32), which is returned; negative counts from the end
---@field at? integer
---@field async? boolean give a future instead; default false
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---The least element.
---@param a gpureduce.array the input
---@param options? gpureduce.min.options how to read it
---@return number|gpureduce.array # an integer for integer dtypes. With `rows` or `axis` one result for each row or column: of the input's dtype
---@overload fun(a: gpureduce.array): number
function gr.min(a, options) end

---The least element.
---@param options? gpureduce.min.options how to read it
---@return number|gpureduce.array # an integer for integer dtypes. With `rows` or `axis` one result for each row or column: of the input's dtype
---@overload fun(): number
function array:min(options) end

---The least element.
---@param options? gpureduce.min.options how to read it
---@return number|gpureduce.array # an integer for integer dtypes. With `rows` or `axis` one result for each row or column: of the input's dtype
---@overload fun(): number
function expression:min(options) end

---@class gpureduce.max.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---m + 1 positions that do not fall (i64 or i32): result k is that of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`.
---They are read on the host, so keep them there; no `rows` with them
---@field segments? gpureduce.array|integer[]
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---run the kernel of this name instead of the usual one (`gr.kernels` lists them; [docs/ladder.md](ladder.md) explains
---them); with rows: one launch a row
---@field kernel? string
---@field block? integer threads in a block of that kernel, 64 to 1024; default 256
---with `kernel`: the seconds between two events of the device around the kernels come as a second result; a number: the
---mean of so many runs; default false
---@field timed? boolean|integer
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---with `into`: the number stays on the device, as element `at` of that array (of the result's dtype; for floats f64 or
---f32), which is returned; negative counts from the end
---@field at? integer
---@field async? boolean give a future instead; default false
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---The greatest element.
---@param a gpureduce.array the input
---@param options? gpureduce.max.options how to read it
---@return number|gpureduce.array # an integer for integer dtypes. With `rows` or `axis` one result for each row or column: of the input's dtype
---@overload fun(a: gpureduce.array): number
function gr.max(a, options) end

---The greatest element.
---@param options? gpureduce.max.options how to read it
---@return number|gpureduce.array # an integer for integer dtypes. With `rows` or `axis` one result for each row or column: of the input's dtype
---@overload fun(): number
function array:max(options) end

---The greatest element.
---@param options? gpureduce.max.options how to read it
---@return number|gpureduce.array # an integer for integer dtypes. With `rows` or `axis` one result for each row or column: of the input's dtype
---@overload fun(): number
function expression:max(options) end

---@class gpureduce.minmax.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---m + 1 positions that do not fall (i64 or i32): result k is that of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`.
---They are read on the host, so keep them there; no `rows` with them
---@field segments? gpureduce.array|integer[]
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---@field async? boolean give a future instead; default false
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---The least and the greatest element in one pass.
---@param a gpureduce.array the input
---@param options? gpureduce.minmax.options how to read it
---@return number|gpureduce.array # the least
---@return number|gpureduce.array # the greatest
---@overload fun(a: gpureduce.array): number, number
function gr.minmax(a, options) end

---The least and the greatest element in one pass.
---@param options? gpureduce.minmax.options how to read it
---@return number|gpureduce.array # the least
---@return number|gpureduce.array # the greatest
---@overload fun(): number, number
function array:minmax(options) end

---The least and the greatest element in one pass.
---@param options? gpureduce.minmax.options how to read it
---@return number|gpureduce.array # the least
---@return number|gpureduce.array # the greatest
---@overload fun(): number, number
function expression:minmax(options) end

---@class gpureduce.argmin.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---m + 1 positions that do not fall (i64 or i32): result k is that of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`.
---They are read on the host, so keep them there; no `rows` with them
---@field segments? gpureduce.array|integer[]
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---with `into`: the number stays on the device, as element `at` of that array (of the result's dtype; for floats f64 or
---f32), which is returned; negative counts from the end
---@field at? integer
---@field async? boolean give a future instead; default false
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---The position of the least element, the first of several; of the first NaN, if there is one.
---@param a gpureduce.array the input
---@param options? gpureduce.argmin.options how to read it
---@return integer|gpureduce.array # the position. With `rows` or `axis` one result for each row or column: i64
---@overload fun(a: gpureduce.array): integer
function gr.argmin(a, options) end

---The position of the least element, the first of several; of the first NaN, if there is one.
---@param options? gpureduce.argmin.options how to read it
---@return integer|gpureduce.array # the position. With `rows` or `axis` one result for each row or column: i64
---@overload fun(): integer
function array:argmin(options) end

---The position of the least element, the first of several; of the first NaN, if there is one.
---@param options? gpureduce.argmin.options how to read it
---@return integer|gpureduce.array # the position. With `rows` or `axis` one result for each row or column: i64
---@overload fun(): integer
function expression:argmin(options) end

---@class gpureduce.argmax.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---m + 1 positions that do not fall (i64 or i32): result k is that of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`.
---They are read on the host, so keep them there; no `rows` with them
---@field segments? gpureduce.array|integer[]
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---with `into`: the number stays on the device, as element `at` of that array (of the result's dtype; for floats f64 or
---f32), which is returned; negative counts from the end
---@field at? integer
---@field async? boolean give a future instead; default false
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---The position of the greatest element, the first of several; of the first NaN, if there is one.
---@param a gpureduce.array the input
---@param options? gpureduce.argmax.options how to read it
---@return integer|gpureduce.array # the position. With `rows` or `axis` one result for each row or column: i64
---@overload fun(a: gpureduce.array): integer
function gr.argmax(a, options) end

---The position of the greatest element, the first of several; of the first NaN, if there is one.
---@param options? gpureduce.argmax.options how to read it
---@return integer|gpureduce.array # the position. With `rows` or `axis` one result for each row or column: i64
---@overload fun(): integer
function array:argmax(options) end

---The position of the greatest element, the first of several; of the first NaN, if there is one.
---@param options? gpureduce.argmax.options how to read it
---@return integer|gpureduce.array # the position. With `rows` or `axis` one result for each row or column: i64
---@overload fun(): integer
function expression:argmax(options) end

---@class gpureduce.any.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---m + 1 positions that do not fall (i64 or i32): result k is that of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`.
---They are read on the host, so keep them there; no `rows` with them
---@field segments? gpureduce.array|integer[]
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---`"<"`, `"<="`, `"=="`, `"~="`, `">="` or `">"`: ask for elements that compare so with `value`, instead of elements
---that are not zero
---@field op? string
---@field value? number the number to compare with, any one
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---with `into`: the number stays on the device, as element `at` of that array (of the result's dtype; for floats f64 or
---f32), which is returned; negative counts from the end
---@field at? integer
---@field async? boolean give a future instead; default false
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---Whether some element is not zero. NaN is not zero.
---@param a gpureduce.array the input
---@param options? gpureduce.any.options how to read it
---@return boolean|gpureduce.array # false for none. With `rows` or `axis` one result for each row or column: u8, 1 or 0
---@overload fun(a: gpureduce.array): boolean
function gr.any(a, options) end

---Whether some element is not zero. NaN is not zero.
---@param options? gpureduce.any.options how to read it
---@return boolean|gpureduce.array # false for none. With `rows` or `axis` one result for each row or column: u8, 1 or 0
---@overload fun(): boolean
function array:any(options) end

---Whether some element is not zero. NaN is not zero.
---@param options? gpureduce.any.options how to read it
---@return boolean|gpureduce.array # false for none. With `rows` or `axis` one result for each row or column: u8, 1 or 0
---@overload fun(): boolean
function expression:any(options) end

---@class gpureduce.all.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---m + 1 positions that do not fall (i64 or i32): result k is that of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`.
---They are read on the host, so keep them there; no `rows` with them
---@field segments? gpureduce.array|integer[]
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---`"<"`, `"<="`, `"=="`, `"~="`, `">="` or `">"`: ask for elements that compare so with `value`, instead of elements
---that are not zero
---@field op? string
---@field value? number the number to compare with, any one
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---with `into`: the number stays on the device, as element `at` of that array (of the result's dtype; for floats f64 or
---f32), which is returned; negative counts from the end
---@field at? integer
---@field async? boolean give a future instead; default false
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---Whether no element is zero.
---@param a gpureduce.array the input
---@param options? gpureduce.all.options how to read it
---@return boolean|gpureduce.array # true for none. With `rows` or `axis` one result for each row or column: u8, 1 or 0
---@overload fun(a: gpureduce.array): boolean
function gr.all(a, options) end

---Whether no element is zero.
---@param options? gpureduce.all.options how to read it
---@return boolean|gpureduce.array # true for none. With `rows` or `axis` one result for each row or column: u8, 1 or 0
---@overload fun(): boolean
function array:all(options) end

---Whether no element is zero.
---@param options? gpureduce.all.options how to read it
---@return boolean|gpureduce.array # true for none. With `rows` or `axis` one result for each row or column: u8, 1 or 0
---@overload fun(): boolean
function expression:all(options) end

---@class gpureduce.count.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---m + 1 positions that do not fall (i64 or i32): result k is that of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`.
---They are read on the host, so keep them there; no `rows` with them
---@field segments? gpureduce.array|integer[]
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---`"<"`, `"<="`, `"=="`, `"~="`, `">="` or `">"`: ask for elements that compare so with `value`, instead of elements
---that are not zero
---@field op? string
---@field value? number the number to compare with, any one
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---with `into`: the number stays on the device, as element `at` of that array (of the result's dtype; for floats f64 or
---f32), which is returned; negative counts from the end
---@field at? integer
---@field async? boolean give a future instead; default false
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---How many elements are not zero.
---@param a gpureduce.array the input
---@param options? gpureduce.count.options how to read it
---@return integer|gpureduce.array # the number. With `rows` or `axis` one result for each row or column: i64
---@overload fun(a: gpureduce.array): integer
function gr.count(a, options) end

---How many elements are not zero.
---@param options? gpureduce.count.options how to read it
---@return integer|gpureduce.array # the number. With `rows` or `axis` one result for each row or column: i64
---@overload fun(): integer
function array:count(options) end

---How many elements are not zero.
---@param options? gpureduce.count.options how to read it
---@return integer|gpureduce.array # the number. With `rows` or `axis` one result for each row or column: i64
---@overload fun(): integer
function expression:count(options) end

---@class gpureduce.norm.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---m + 1 positions that do not fall (i64 or i32): result k is that of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`.
---They are read on the host, so keep them there; no `rows` with them
---@field segments? gpureduce.array|integer[]
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---@field exact? boolean round the true value once, whatever the order (docs/exact.md); default what `gr.exact` says
---`"f32"`: results of f64 rounded once to f32, and arrays of it; with `exact` rounded straight from the true value;
---default `"f64"`
---@field out? string
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---with `into`: the number stays on the device, as element `at` of that array (of the result's dtype; for floats f64 or
---f32), which is returned; negative counts from the end
---@field at? integer
---@field async? boolean give a future instead; default false
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---The norm of order p: the sum of magnitudes, the root of the sum of squares, or the greatest magnitude. Nothing
---overflows on the way.
---@param a gpureduce.array the input
---@param p? number|"inf" 1, 2 or math.huge
---@param options? gpureduce.norm.options how to read it; p may be left out before it
---@return number|gpureduce.array # the norm; 0 for none. With `rows` or `axis` one result for each row or column: f64
---@overload fun(a: gpureduce.array, p?: number|"inf"): number
---@overload fun(a: gpureduce.array, options: gpureduce.norm.options): number|gpureduce.array
function gr.norm(a, p, options) end

---The norm of order p: the sum of magnitudes, the root of the sum of squares, or the greatest magnitude. Nothing
---overflows on the way.
---@param p? number|"inf" 1, 2 or math.huge
---@param options? gpureduce.norm.options how to read it; p may be left out before it
---@return number|gpureduce.array # the norm; 0 for none. With `rows` or `axis` one result for each row or column: f64
---@overload fun(p?: number|"inf"): number
---@overload fun(options: gpureduce.norm.options): number|gpureduce.array
function array:norm(p, options) end

---The norm of order p: the sum of magnitudes, the root of the sum of squares, or the greatest magnitude. Nothing
---overflows on the way.
---@param p? number|"inf" 1, 2 or math.huge
---@param options? gpureduce.norm.options how to read it; p may be left out before it
---@return number|gpureduce.array # the norm; 0 for none. With `rows` or `axis` one result for each row or column: f64
---@overload fun(p?: number|"inf"): number
---@overload fun(options: gpureduce.norm.options): number|gpureduce.array
function expression:norm(p, options) end

---@class gpureduce.reduce.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---m + 1 positions that do not fall (i64 or i32): result k is that of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`.
---They are read on the host, so keep them there; no `rows` with them
---@field segments? gpureduce.array|integer[]
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---how float sums are kept: `"f64"`, `"f32"`, `"kahan"` or `"neumaier"` (docs/numerics.md); default `"f64"`
---@field accumulate? string
---@field ddof? number what is subtracted from n in the divisor (1 for a sample's variance); default 0
---@field exact? boolean round the true value once, whatever the order (docs/exact.md); default what `gr.exact` says
---`"f32"`: results of f64 rounded once to f32, and arrays of it; with `exact` rounded straight from the true value;
---default `"f64"`
---@field out? string
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---with `into`: the number stays on the device, as element `at` of that array (of the result's dtype; for floats f64 or
---f32), which is returned; negative counts from the end
---@field at? integer
---@field async? boolean give a future instead; default false
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---A reduction by its name: `gr.reduce(a, "sum")` is `gr.sum(a)`.
---@param a gpureduce.array the input
---@param op string|gpureduce.operator the name of a reduction of one array, or [one of your own](#operators-of-your-own)
---@param options? gpureduce.reduce.options the options of that reduction
---@return any # what that reduction returns
function gr.reduce(a, op, options) end

---A reduction by its name: `gr.reduce(a, "sum")` is `gr.sum(a)`.
---@param op string|gpureduce.operator the name of a reduction of one array, or [one of your own](#operators-of-your-own)
---@param options? gpureduce.reduce.options the options of that reduction
---@return any # what that reduction returns
function array:reduce(op, options) end

---A reduction by its name: `gr.reduce(a, "sum")` is `gr.sum(a)`.
---@param op string|gpureduce.operator the name of a reduction of one array, or [one of your own](#operators-of-your-own)
---@param options? gpureduce.reduce.options the options of that reduction
---@return any # what that reduction returns
function expression:reduce(op, options) end

---@class gpureduce.dot.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---m + 1 positions that do not fall (i64 or i32): result k is that of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`.
---They are read on the host, so keep them there; no `rows` with them
---@field segments? gpureduce.array|integer[]
---row by row; else b is one row (axis 2) or one column (axis 1) that meets each of a's; default false; true where b is
---a matrix as long as a
---@field pairs? boolean
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---how float sums are kept: `"f64"`, `"f32"`, `"kahan"` or `"neumaier"` (docs/numerics.md); default `"f64"`
---@field accumulate? string
---run the kernel of this name instead of the usual one (`gr.kernels` lists them; [docs/ladder.md](ladder.md) explains
---them); with rows: one launch a row
---@field kernel? string
---@field block? integer threads in a block of that kernel, 64 to 1024; default 256
---with `kernel`: the seconds between two events of the device around the kernels come as a second result; a number: the
---mean of so many runs; default false
---@field timed? boolean|integer
---@field exact? boolean round the true value once, whatever the order (docs/exact.md); default what `gr.exact` says
---`"f32"`: results of f64 rounded once to f32, and arrays of it; with `exact` rounded straight from the true value;
---default `"f64"`
---@field out? string
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---with `into`: the number stays on the device, as element `at` of that array (of the result's dtype; for floats f64 or
---f32), which is returned; negative counts from the end
---@field at? integer
---@field async? boolean give a future instead; default false
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---The sum of the products of the elements of two arrays.
---@param a gpureduce.array the input
---@param b gpureduce.array the other input: same dtype, length and device
---@param options? gpureduce.dot.options how to read them
---@return number|gpureduce.array # an integer for integer dtypes; 0 for none. With `rows` or `axis` one result for each row or column: f64, or i64
---@overload fun(a: gpureduce.array, b: gpureduce.array): number
function gr.dot(a, b, options) end

---The sum of the products of the elements of two arrays.
---@param b gpureduce.array the other input: same dtype, length and device
---@param options? gpureduce.dot.options how to read them
---@return number|gpureduce.array # an integer for integer dtypes; 0 for none. With `rows` or `axis` one result for each row or column: f64, or i64
---@overload fun(b: gpureduce.array): number
function array:dot(b, options) end

---The sum of the products of the elements of two arrays.
---@param b gpureduce.array|gpureduce.expression the other input: same dtype, length and device
---@param options? gpureduce.dot.options how to read them
---@return number|gpureduce.array # an integer for integer dtypes; 0 for none. With `rows` or `axis` one result for each row or column: f64, or i64
---@overload fun(b: gpureduce.array|gpureduce.expression): number
function expression:dot(b, options) end

---@class gpureduce.mse.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---m + 1 positions that do not fall (i64 or i32): result k is that of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`.
---They are read on the host, so keep them there; no `rows` with them
---@field segments? gpureduce.array|integer[]
---row by row; else b is one row (axis 2) or one column (axis 1) that meets each of a's; default false; true where b is
---a matrix as long as a
---@field pairs? boolean
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---@field exact? boolean round the true value once, whatever the order (docs/exact.md); default what `gr.exact` says
---`"f32"`: results of f64 rounded once to f32, and arrays of it; with `exact` rounded straight from the true value;
---default `"f64"`
---@field out? string
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---with `into`: the number stays on the device, as element `at` of that array (of the result's dtype; for floats f64 or
---f32), which is returned; negative counts from the end
---@field at? integer
---@field async? boolean give a future instead; default false
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---The mean of the squared differences of two arrays.
---@param a gpureduce.array the input
---@param b gpureduce.array the other input: same dtype, length and device
---@param options? gpureduce.mse.options how to read them
---@return number|gpureduce.array # a float; NaN for none. With `rows` or `axis` one result for each row or column: f64
---@overload fun(a: gpureduce.array, b: gpureduce.array): number
function gr.mse(a, b, options) end

---The mean of the squared differences of two arrays.
---@param b gpureduce.array the other input: same dtype, length and device
---@param options? gpureduce.mse.options how to read them
---@return number|gpureduce.array # a float; NaN for none. With `rows` or `axis` one result for each row or column: f64
---@overload fun(b: gpureduce.array): number
function array:mse(b, options) end

---The mean of the squared differences of two arrays.
---@param b gpureduce.array|gpureduce.expression the other input: same dtype, length and device
---@param options? gpureduce.mse.options how to read them
---@return number|gpureduce.array # a float; NaN for none. With `rows` or `axis` one result for each row or column: f64
---@overload fun(b: gpureduce.array|gpureduce.expression): number
function expression:mse(b, options) end

---@class gpureduce.cosine.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---m + 1 positions that do not fall (i64 or i32): result k is that of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`.
---They are read on the host, so keep them there; no `rows` with them
---@field segments? gpureduce.array|integer[]
---row by row; else b is one row (axis 2) or one column (axis 1) that meets each of a's; default false; true where b is
---a matrix as long as a
---@field pairs? boolean
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---@field exact? boolean round the true value once, whatever the order (docs/exact.md); default what `gr.exact` says
---`"f32"`: results of f64 rounded once to f32, and arrays of it; with `exact` rounded straight from the true value;
---default `"f64"`
---@field out? string
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---with `into`: the number stays on the device, as element `at` of that array (of the result's dtype; for floats f64 or
---f32), which is returned; negative counts from the end
---@field at? integer
---@field async? boolean give a future instead; default false
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---The cosine of the angle between two arrays: their dot over the product of their norms.
---@param a gpureduce.array the input
---@param b gpureduce.array the other input: same dtype, length and device
---@param options? gpureduce.cosine.options how to read them
---@return number|gpureduce.array # a float from -1 to 1; NaN when one is all zeros. With `rows` or `axis` one result for each row or column: f64
---@overload fun(a: gpureduce.array, b: gpureduce.array): number
function gr.cosine(a, b, options) end

---The cosine of the angle between two arrays: their dot over the product of their norms.
---@param b gpureduce.array the other input: same dtype, length and device
---@param options? gpureduce.cosine.options how to read them
---@return number|gpureduce.array # a float from -1 to 1; NaN when one is all zeros. With `rows` or `axis` one result for each row or column: f64
---@overload fun(b: gpureduce.array): number
function array:cosine(b, options) end

---The cosine of the angle between two arrays: their dot over the product of their norms.
---@param b gpureduce.array|gpureduce.expression the other input: same dtype, length and device
---@param options? gpureduce.cosine.options how to read them
---@return number|gpureduce.array # a float from -1 to 1; NaN when one is all zeros. With `rows` or `axis` one result for each row or column: f64
---@overload fun(b: gpureduce.array|gpureduce.expression): number
function expression:cosine(b, options) end

---@class gpureduce.quantile.options
---what to give when a share falls between two elements: `"linear"` between them, the `"lower"`, `"higher"` or
---`"nearest"` of them (halfway: the even one, counted from 0), or their `"midpoint"`; or NumPy's others, those of
---Hyndman and Fan (1996): `"inverted_cdf"`, `"averaged_inverted_cdf"`, `"closest_observation"`,
---`"interpolated_inverted_cdf"`, `"hazen"`, `"weibull"`, `"median_unbiased"`, `"normal_unbiased"`; default `"linear"`
---@field method? string
---one for each element, finite and not below 0: the least element up to which at least the share of all weight lies
---(`"inverted_cdf"`, which is the method then); its zeros have no sign
---@field weights? gpureduce.array
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---@field into? gpureduce.array the array that takes the results of several shares, or of rows or columns
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---The elements below which given shares of the data lie: exact, by selection on order keys, as NumPy defines it.
---@param a gpureduce.array the input
---@param q number|number[] a share from 0 to 1, or several
---@param options? gpureduce.quantile.options
---@return gpureduce.array|number # for a table of shares an array: f64, or the input's dtype with `lower`, `higher`, `nearest`, `inverted_cdf` and `closest_observation`, which give elements. Of rows or columns one for each, and of several shares a matrix with a row for each share. NaN anywhere in the data gives NaN
function gr.quantile(a, q, options) end

---The elements below which given shares of the data lie: exact, by selection on order keys, as NumPy defines it.
---@param q number|number[] a share from 0 to 1, or several
---@param options? gpureduce.quantile.options
---@return gpureduce.array|number # for a table of shares an array: f64, or the input's dtype with `lower`, `higher`, `nearest`, `inverted_cdf` and `closest_observation`, which give elements. Of rows or columns one for each, and of several shares a matrix with a row for each share. NaN anywhere in the data gives NaN
function array:quantile(q, options) end

---The elements below which given shares of the data lie: exact, by selection on order keys, as NumPy defines it.
---@param q number|number[] a share from 0 to 1, or several
---@param options? gpureduce.quantile.options
---@return gpureduce.array|number # for a table of shares an array: f64, or the input's dtype with `lower`, `higher`, `nearest`, `inverted_cdf` and `closest_observation`, which give elements. Of rows or columns one for each, and of several shares a matrix with a row for each share. NaN anywhere in the data gives NaN
function expression:quantile(q, options) end

---@class gpureduce.median.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---The middle element, or the mean of the two in the middle, rounded once to f64. (`quantile(a, 0.5)` interpolates
---between those, as NumPy's does, which may differ in the last bits.)
---@param a gpureduce.array the input
---@param options? gpureduce.median.options
---@return number|gpureduce.array # a float; NaN when the data holds one. Of rows or columns one for each: f64
---@overload fun(a: gpureduce.array): number
function gr.median(a, options) end

---The middle element, or the mean of the two in the middle, rounded once to f64. (`quantile(a, 0.5)` interpolates
---between those, as NumPy's does, which may differ in the last bits.)
---@param options? gpureduce.median.options
---@return number|gpureduce.array # a float; NaN when the data holds one. Of rows or columns one for each: f64
---@overload fun(): number
function array:median(options) end

---The middle element, or the mean of the two in the middle, rounded once to f64. (`quantile(a, 0.5)` interpolates
---between those, as NumPy's does, which may differ in the last bits.)
---@param options? gpureduce.median.options
---@return number|gpureduce.array # a float; NaN when the data holds one. Of rows or columns one for each: f64
---@overload fun(): number
function expression:median(options) end

---Whether reductions of this Lua state are correctly rounded where a call does not say; sets it when given.
---@param on? boolean the new setting
---@return boolean # the setting
function gr.exact(on) end

---An exact sum: of nothing, or what the bytes of another one hold.
---@param bytes? string what `s:bytes()` gave, here or on another machine
---@return gpureduce.accumulator # a new one
function gr.accumulator(bytes) end

---Add all elements of an array, of any dtype.
---@param a gpureduce.array what to add
---@return gpureduce.accumulator # itself
function accumulator:add(a) end

---Add the products of the elements of two arrays, none of which overflows or underflows.
---@param a gpureduce.array the one
---@param b gpureduce.array the other: same dtype, length and device
---@return gpureduce.accumulator # itself
function accumulator:add_dot(a, b) end

---Add what another accumulator holds, or those of all ranks.
---@param other gpureduce.accumulator|any it stays as it is; a communicator of `gpureduce.mpi`: the accumulators of all its ranks are added up, in each of them
---@return gpureduce.accumulator # itself
function accumulator:merge(other) end

---@class gpureduce.accumulator.value.options
---@field out? string round straight to `"f32"` or `"f64"`; default `"f64"`

---The sum, rounded once.
---@param options? gpureduce.accumulator.value.options what to round to
---@return number # a float; 0 for none
function accumulator:value(options) end

---568 bytes that hold the sum, the same on every machine; equal sums have equal bytes.
---@return string # for `gr.accumulator`
function accumulator:bytes() end

---@class gpureduce.digest.options
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---A fingerprint of an array's bytes in logical order: the same for a view and its copy, on every device.
---@param a gpureduce.array of any dtype; the dtype itself does not count
---@param options? gpureduce.digest.options
---@return string # 32 hexadecimal digits
function gr.digest(a, options) end

---A fingerprint of an array's bytes in logical order: the same for a view and its copy, on every device.
---@param options? gpureduce.digest.options
---@return string # 32 hexadecimal digits
function array:digest(options) end

---A fingerprint of an array's bytes in logical order: the same for a view and its copy, on every device.
---@param options? gpureduce.digest.options
---@return string # 32 hexadecimal digits
function expression:digest(options) end

---@class gpureduce.histogram.options
---@field bins? integer how many bins of equal width, 1 to 2^31
---@field min? number the first edge; default the least finite sample
---@field max? number the last edge; default the greatest finite sample
---@field edges? gpureduce.array|number[] 2 or more rising numbers (an array: f64), instead of `bins`
---@field log? boolean edges by equal factors: `min` (or the data) lies above 0; default false
---one for each sample, of any dtype: bins hold their sums. Integers are summed in 64 bits; floats (all finite) exactly,
---then rounded once, unless some are below 2^-90 or so of the largest (docs/numerics.md)
---@field weights? gpureduce.array
---@field density? boolean add the field `density`; default false
---takes the results instead of a new one; of as many bins and the same dtype, without `density`
---@field into? gpureduce.histogram
---@field modulo? boolean integers by their remainder: x goes into bin x % bins + 1; default false
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: a histogram of each row, 1: of each column, with the same bins for all; with `rows`, or of a matrix; default 2
---@field axis? integer
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field out? string `"f32"`: counts that are sums of float weights, and densities, rounded to f32; default `"f64"`
---run the kernel of this name instead of the usual one (`gr.kernels` lists them; [docs/ladder.md](ladder.md) explains
---them); with rows: one launch a row
---@field kernel? string
---@field block? integer threads in a block of that kernel, 64 to 1024; default 256
---with `kernel`: the seconds between two events of the device around the kernels come as a second result; a number: the
---mean of so many runs; default false
---@field timed? boolean|integer
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---Count the elements in bins, evenly spaced, by equal factors or between given edges; or add up weights there.
---@param a gpureduce.array the samples
---@param options gpureduce.histogram.options `bins` or `edges`
---@return gpureduce.histogram # counts, edges, and what lay outside. Of rows or columns a list of these, with the fields `edges` and `counts`, a matrix that has a row for each
function gr.histogram(a, options) end

---Count the elements in bins, evenly spaced, by equal factors or between given edges; or add up weights there.
---@param options gpureduce.histogram.options `bins` or `edges`
---@return gpureduce.histogram # counts, edges, and what lay outside. Of rows or columns a list of these, with the fields `edges` and `counts`, a matrix that has a row for each
function array:histogram(options) end

---Count the elements in bins, evenly spaced, by equal factors or between given edges; or add up weights there.
---@param options gpureduce.histogram.options `bins` or `edges`
---@return gpureduce.histogram # counts, edges, and what lay outside. Of rows or columns a list of these, with the fields `edges` and `counts`, a matrix that has a row for each
function expression:histogram(options) end

---@class gpureduce.histogram2d.options
---@field bins? integer|integer[] how many bins of equal width each axis has, or `{nx, ny}`; altogether less than 2^31
---`{{x0, x1}, {y0, y1}}`: the first and the last edge of each axis; what is left out is the data's; default the least
---and the greatest finite x and y
---@field range? table
---`{xedges, yedges}`, each 2 or more rising numbers (an array: f64), instead of `bins`; an axis has one or the other
---@field edges? table
---edges by equal factors, or `{of x, of y}`: the range (or the data) lies above 0; default false
---@field log? boolean|boolean[]
---@field weights? gpureduce.array one for each pair, of any dtype: cells hold their sums, as in `histogram`
---@field density? boolean add the field `density`; default false
---takes the results instead of a new one; of as many bins and the same dtype, without `density`
---@field into? gpureduce.histogram2d
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`; pairs are copied without what is missing
---first
---@field mask? gpureduce.array|gpureduce.expression
---@field out? string `"f32"`: counts that are sums of float weights, and densities, rounded to f32; default `"f64"`
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---Count pairs in cells: `counts[i][j]` are those with x in bin i and y in bin j, as `numpy.histogram2d` has them. The
---bins of each axis are those of `histogram`, to the sample: half-open, the last one closed, compared with the edges
---themselves.
---@param x gpureduce.array one of each pair
---@param y gpureduce.array the other one, as long; of any dtype
---@param options gpureduce.histogram2d.options `bins` or `edges` for each axis
---@return gpureduce.histogram2d # counts, edges, and what lies in no cell
function gr.histogram2d(x, y, options) end

---Count pairs in cells: `counts[i][j]` are those with x in bin i and y in bin j, as `numpy.histogram2d` has them. The
---bins of each axis are those of `histogram`, to the sample: half-open, the last one closed, compared with the edges
---themselves.
---@param y gpureduce.array the other one, as long; of any dtype
---@param options gpureduce.histogram2d.options `bins` or `edges` for each axis
---@return gpureduce.histogram2d # counts, edges, and what lies in no cell
function array:histogram2d(y, options) end

---Count pairs in cells: `counts[i][j]` are those with x in bin i and y in bin j, as `numpy.histogram2d` has them. The
---bins of each axis are those of `histogram`, to the sample: half-open, the last one closed, compared with the edges
---themselves.
---@param y gpureduce.array|gpureduce.expression the other one, as long; of any dtype
---@param options gpureduce.histogram2d.options `bins` or `edges` for each axis
---@return gpureduce.histogram2d # counts, edges, and what lies in no cell
function expression:histogram2d(y, options) end

---@class gpureduce.bincount.options
---@field minlength? integer the least length of the result; default 0
---@field weights? gpureduce.array one for each element, of any dtype, as in `histogram`
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`; they are copied without what is missing
---first
---@field mask? gpureduce.array|gpureduce.expression
---@field into? gpureduce.array takes the result; of its dtype, and as long or longer: the rest becomes 0
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---How often each of the whole numbers 0, 1, 2, ... occurs, or the sums of weights there.
---@param a gpureduce.array whole numbers of 0 or more
---@param options? gpureduce.bincount.options
---@return gpureduce.array # i64 (with float weights f64): element k tells how often k - 1 occurs; as long as the greatest plus 1
function gr.bincount(a, options) end

---How often each of the whole numbers 0, 1, 2, ... occurs, or the sums of weights there.
---@param options? gpureduce.bincount.options
---@return gpureduce.array # i64 (with float weights f64): element k tells how often k - 1 occurs; as long as the greatest plus 1
function array:bincount(options) end

---How often each of the whole numbers 0, 1, 2, ... occurs, or the sums of weights there.
---@param options? gpureduce.bincount.options
---@return gpureduce.array # i64 (with float weights f64): element k tells how often k - 1 occurs; as long as the greatest plus 1
function expression:bincount(options) end

---The value below which the share q of the counted samples lies, linear within its bin.
---@param q number a share from 0 to 1
---@return number? # nil when nothing was counted
function histogram:quantile(q) end

---@class gpureduce.scan.options
---@field exclusive? boolean element k takes what came before it; the first is the identity; default false
---@field reverse? boolean from the end to the start; default false
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---@field axis? integer 2: each row by itself, 1: each column; with `rows`, or of a matrix; default 2
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---run the kernel of this name instead of the usual one (`gr.kernels` lists them; [docs/ladder.md](ladder.md) explains
---them); with rows: one launch a row
---@field kernel? string
---@field block? integer threads in a block of that kernel, 64 to 1024; default 256
---with `kernel`: the seconds between two events of the device around the kernels come as a second result; a number: the
---mean of so many runs; default false
---@field timed? boolean|integer
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---The running sum, product, minimum or maximum of an array.
---@param a gpureduce.array the input
---@param op? string|gpureduce.operator `"sum"`, `"prod"`, `"min"`, `"max"`, or [one of your own](#operators-of-your-own)
---@param options? gpureduce.scan.options
---@return gpureduce.array # as long as the input, and of its shape. Of a matrix without `axis`: of all its elements
---@overload fun(a: gpureduce.array, options: gpureduce.scan.options): gpureduce.array
function gr.scan(a, op, options) end

---The running sum, product, minimum or maximum of an array.
---@param op? string|gpureduce.operator `"sum"`, `"prod"`, `"min"`, `"max"`, or [one of your own](#operators-of-your-own)
---@param options? gpureduce.scan.options
---@return gpureduce.array # as long as the input, and of its shape. Of a matrix without `axis`: of all its elements
---@overload fun(options: gpureduce.scan.options): gpureduce.array
function array:scan(op, options) end

---The running sum, product, minimum or maximum of an array.
---@param op? string|gpureduce.operator `"sum"`, `"prod"`, `"min"`, `"max"`, or [one of your own](#operators-of-your-own)
---@param options? gpureduce.scan.options
---@return gpureduce.array # as long as the input, and of its shape. Of a matrix without `axis`: of all its elements
---@overload fun(options: gpureduce.scan.options): gpureduce.array
function expression:scan(op, options) end

---@class gpureduce.operator.options
---@field state string|string[] the names of 1 to 6 states: letters, digits and `_`
---@field map string|table what an element makes of each
---@field merge string|table what two parts make of each
---@field identity number|table what nothing makes of each
---@field finish? string|string[] what the last states make of each result, up to 6; default the states
---@field commutative? boolean `false`: left and right must not change places; default true
---try identity, order and associativity on samples, floats to a tolerance; raise with those that break it; default
---false
---@field check? boolean

---Make an operator. With one state the fields are as below; with several `state` is a list of names and `map`, `merge`
---and `identity` are tables by name.
---@param options gpureduce.operator.options
---@return gpureduce.operator #
function gr.operator(options) end

---@class gpureduce.operator.reduce.options
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---2: one result for each row, 1: one for each column; with `rows`, or of a matrix, where it alone says that; default 2
---@field axis? integer
---m + 1 positions that do not fall (i64 or i32): result k is that of `a[offsets[k]]` up to `a[offsets[k + 1] - 1]`.
---They are read on the host, so keep them there; no `rows` with them
---@field segments? gpureduce.array|integer[]
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field keepdims? boolean the results as a matrix: of one column (axis 2) or one row (axis 1); default false
---with `rows` or `segments` the array that takes the results, if the operator gives one; with `at` the array of which
---one element does
---@field into? gpureduce.array
---@field at? integer which; -1 is the last
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---@field async? boolean give a [future](#asking-for-results); default false
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---Reduce an array by it: `op(a, options)` too.
---@param a gpureduce.array|gpureduce.expression the input
---@param options? gpureduce.operator.reduce.options
---@return any # one for each result, in the order of `finish` or of the states; numbers of the whole, arrays of rows and the like
function operator:reduce(a, options) end

---@class gpureduce.operator.scan.options
---@field exclusive? boolean element k takes what came before it; default false
---@field reverse? boolean from the end to the start; default false
---@field rows? integer read the n elements as a matrix of so many rows, row by row; must divide n
---@field axis? integer 2: each row by itself, 1: each column; with `rows`, or of a matrix; default 2
---elements that are NaN are missing, as if they were not there ([what is missing](#what-is-missing)); integers have
---none; default false
---@field skipnan? boolean
---elements are missing where this is 0: u8, or an expression, as long as `a`
---@field mask? gpureduce.array|gpureduce.expression
---@field into? gpureduce.array the array that takes the results, if the operator gives one
---@field out? string `"f32"`: results of f64 rounded once to f32, and arrays of it; default `"f64"`
---a communicator of `gpureduce.mpi`: the input is this rank's part of one over all ranks, and they get the bits of the
---whole ([ranks.md](ranks.md))
---@field comm? any

---The running results: `gr.scan(a, op, options)`.
---@param a gpureduce.array|gpureduce.expression the input
---@param options? gpureduce.operator.scan.options
---@return gpureduce.array # as long as the input and of its shape; one for each result
function operator:scan(a, options) end

---@class gpureduce.rmsnorm.options
---@field rows? integer how many rows; must divide the length; default those of a matrix, or 1
---@field eps? number added to the mean of squares; default 1e-5
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array
---run the kernel of this name instead of the usual one (`gr.kernels` lists them; [docs/ladder.md](ladder.md) explains
---them); with rows: one launch a row
---@field kernel? string
---@field block? integer threads in a block of that kernel, 64 to 1024; default 256
---with `kernel`: the seconds between two events of the device around the kernels come as a second result; a number: the
---mean of so many runs; default false
---@field timed? boolean|integer

---Divide each row by the root of the mean of its squares, and multiply by weights (Zhang and Sennrich 2019).
---@param x gpureduce.array the rows, one after the other
---@param w? gpureduce.array one weight for each column, of the same dtype
---@param options? gpureduce.rmsnorm.options
---@return gpureduce.array # of the input's dtype and length
---@overload fun(x: gpureduce.array, options: gpureduce.rmsnorm.options): gpureduce.array
function gr.rmsnorm(x, w, options) end

---Divide each row by the root of the mean of its squares, and multiply by weights (Zhang and Sennrich 2019).
---@param w? gpureduce.array one weight for each column, of the same dtype
---@param options? gpureduce.rmsnorm.options
---@return gpureduce.array # of the input's dtype and length
---@overload fun(options: gpureduce.rmsnorm.options): gpureduce.array
function array:rmsnorm(w, options) end

---Divide each row by the root of the mean of its squares, and multiply by weights (Zhang and Sennrich 2019).
---@param w? gpureduce.array|gpureduce.expression one weight for each column, of the same dtype
---@param options? gpureduce.rmsnorm.options
---@return gpureduce.array # of the input's dtype and length
---@overload fun(options: gpureduce.rmsnorm.options): gpureduce.array
function expression:rmsnorm(w, options) end

---@class gpureduce.softmax.options
---@field rows? integer how many rows; must divide the length; default those of a matrix, or 1
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---Each row as shares: exp(x - max) divided by the row's sum of these. Large numbers do not overflow.
---@param x gpureduce.array the rows, one after the other
---@param options? gpureduce.softmax.options
---@return gpureduce.array # of the input's dtype and length. A row with NaN or +infinity, or of nothing but -infinity, gives NaN
function gr.softmax(x, options) end

---Each row as shares: exp(x - max) divided by the row's sum of these. Large numbers do not overflow.
---@param options? gpureduce.softmax.options
---@return gpureduce.array # of the input's dtype and length. A row with NaN or +infinity, or of nothing but -infinity, gives NaN
function array:softmax(options) end

---Each row as shares: exp(x - max) divided by the row's sum of these. Large numbers do not overflow.
---@param options? gpureduce.softmax.options
---@return gpureduce.array # of the input's dtype and length. A row with NaN or +infinity, or of nothing but -infinity, gives NaN
function expression:softmax(options) end

---@class gpureduce.histogram.plot.options
---@field width? integer the longest line, 10 or more; default the variable COLUMNS, the terminal's width, or 80
---@field height? integer the most bars: more bins are merged with their neighbours; default 32
---@field log? boolean bars as long as log(1 + count), so that rare values show; default false
---@field density? boolean show counts / width / total instead of counts; default whether `h.density` is there
---draw without Unicode; default true on a dumb terminal, and where LC_ALL, LC_CTYPE or LANG (the first that is set)
---names no UTF-8
---@field ascii? boolean

---The histogram as text, one bar a line. `print(h)` does the same without options. Edges have as many digits as place
---them well within their bins; when those do not fit, the last line says what is to be added to all.
---@param options? gpureduce.histogram.plot.options
---@return string # lines without a newline at the end
function histogram:plot(options) end

---@class gpureduce.histogram.svg.options
---@field title? string above the picture
---@field xlabel? string below the axis
---@field xunit? string behind the label, in brackets
---@field ylabel? string beside the axis
---@field width? number in pixels, 100 to 10000; default 720
---@field height? number in pixels, 100 to 10000; default 440
---@field theme? string `"light"`, `"dark"` or `"auto"`: as the viewer is set; default `"auto"`
---@field log? boolean counts on an axis of ratios; default false
---@field xlog? boolean|number edges on an axis of ratios, in powers of 10 (true) or 2; default false
---true: heights are counts / width / total; false: counts, whatever the widths; default true where `h.density` is there
---@field density? boolean

---The histogram as a picture: bars between their edges, as wide as the bins are. Heights are counts; where bins differ
---in width (on an axis of ratios: in ratio), counts / width, so that a bar's area is its count.
---@param path? string the file to write
---@param options? gpureduce.histogram.svg.options
---@return boolean|string|nil # true when written; the text without a path; nil when the system refuses
---@return string? # after nil the message
---@return integer? # after nil the system's error number
---@overload fun(options: gpureduce.histogram.svg.options): boolean|string|nil, string?, integer?
function histogram:svg(path, options) end

---@class gpureduce.histogram2d.plot.options
---@field width? integer the longest line, 10 or more; default the variable COLUMNS, the terminal's width, or 80
---@field height? integer lines of cells; a few more tell the ticks and the scale; default 20
---@field log? boolean|number shades by the logarithm of the count; default false
---true: counts / area / total; false: counts, whatever the sizes of bins; default true where `h.density` is there; else
---counts, or counts / area where bins differ in size
---@field density? boolean
---@field xlog? boolean|number an axis of ratios, in powers of 10 (true) or 2; default false
---@field ylog? boolean|number the same for y; default false
---whether to set colours, of 24 bits where COLORTERM says `truecolor`, else of 256; default true in a terminal with
---UTF-8, unless NO_COLOR is set or TERM is `dumb`
---@field colour? boolean
---draw without Unicode; default true on a dumb terminal, and where LC_ALL, LC_CTYPE or LANG (the first that is set)
---names no UTF-8
---@field ascii? boolean

---The cells as text, x to the right and y upwards: half blocks in colours where the output is a terminal that has them,
---else shades. `print(h)` does the same without options. More cells than characters are merged: each shows their mean.
---@param options? gpureduce.histogram2d.plot.options
---@return string # lines without a newline at the end
function histogram2d:plot(options) end

---@class gpureduce.histogram2d.svg.options
---@field title? string above the picture
---@field xlabel? string below the axis
---@field xunit? string behind the label, in brackets
---@field ylabel? string beside the axis
---@field yunit? string behind the label, in brackets
---@field zlabel? string beside the scale of colours; default what it shows: `count`, `weight`, `density`
---@field zunit? string behind that, in brackets
---@field log? boolean|number colours by the logarithm of the count, in powers of 10 (true) or 2; default false
---@field zmin? number where the scale begins; default 0 for counts; with `log` the least
---@field zmax? number where it ends; default the greatest
---@field xlog? boolean|number an axis of ratios, in powers of 10 (true) or 2; default false
---@field ylog? boolean|number the same for y; default false
---true: counts / area / total; false: counts, whatever the sizes of bins; default true where `h.density` is there; else
---counts, or counts / area where bins differ in size
---@field density? boolean
---@field width? number in pixels, 100 to 10000; default 720
---@field height? number in pixels, 100 to 10000; default 440
---@field theme? string `"light"`, `"dark"` or `"auto"`: as the viewer is set; default `"auto"`

---The cells as a heat map, x to the right and y upwards; where no pair is, nothing is drawn. Of more bins than the
---picture has room for, two pixels for each, or 600 each way, several make a cell, which shows their mean.
---@param path? string the file to write
---@param options? gpureduce.histogram2d.svg.options
---@return boolean|string|nil # true when written; the text without a path; nil when the system refuses
---@return string? # after nil the message
---@return integer? # after nil the system's error number
---@overload fun(options: gpureduce.histogram2d.svg.options): boolean|string|nil, string?, integer?
function histogram2d:svg(path, options) end

---@class gpureduce.svg.options
---a list of arrays or of tables `{ name =, x =, y =, error = }`; x and y are arrays or tables of numbers (x: 1, 2, 3,
---...). Few points (60) show as marks; what is not finite leaves a gap. `error` (a number, or one for each y) or `low
---=` and `high =` (the ends themselves) are error bars, a pale band where they are dense
---@field lines? table
---@field steps? table the same, each y held until the next x
---the same without lines: a scatter plot; of many thousands the density shows. More than 100000 without error bars are
---counted in cells where they are, by `histogram2d`, and a single such series becomes a heat map, with `zlog` unless
---that is false
---@field points? table
---a heat map: a matrix, drawn as it is printed, row 1 at the top (a transposed one is copied first); or `{ values =, x
---=, y = }`, a matrix and where its columns and rows lie, each two ends (the outer edges of the first and the last) or
---all edges: such axes go to the right and upwards; or a `histogram2d`. `false`: none of `points` either, however many,
---whose cells are then shades of their own colour
---@field heat? gpureduce.array|gpureduce.histogram2d|table|boolean
---@field histograms? table a list of histograms or of tables `{ name =, histogram = }`, over each other
---@field density? boolean for `histograms`: as in `h:svg`
---@field ceiling? number|table a limit drawn across: y, or `{ y =, name = }`, or a list of those
---@field path? string the file to write; default none: the text is returned
---@field title? string above the picture
---@field xlabel? string below the axis
---@field xunit? string behind the label, in brackets
---@field ylabel? string beside the axis
---@field yunit? string behind the label, in brackets
---@field xlog? boolean|number an axis of ratios, in powers of 10 (true) or 2; default false
---@field ylog? boolean|number the same for y; default false
---@field xmin? number where the axis begins; default the data's least
---@field xmax? number where it ends; default the data's greatest
---@field ymin? number the same for y; default a round number
---@field ymax? number the same for y; default a round number
---@field zlabel? string beside the scale of `heat`
---@field zunit? string behind that, in brackets
---@field zlog? boolean|number colours by the logarithm of the number, in powers of 10 (true) or 2; default false
---@field zmin? number where the scale begins; default the least; for counts 0
---@field zmax? number where it ends; default the greatest
---@field width? number in pixels, 100 to 10000; default 720
---@field height? number in pixels, 100 to 10000; default 440
---@field theme? string `"light"`, `"dark"` or `"auto"`: as the viewer is set; default `"auto"`

---A chart: lines, steps, points and histograms over the same axes, and a heat map below them.
---@param options gpureduce.svg.options one or more of `lines`, `steps`, `points`, `histograms`, `heat`, and how to draw them
---@return boolean|string|nil # true when written; the text without a path; nil when the system refuses
---@return string? # after nil the message
---@return integer? # after nil the system's error number
function gr.svg(options) end

---@class gpureduce.plot.options
---@field x? gpureduce.array|number[] where each y lies; default 1, 2, 3, ...
---@field width? integer the longest line, 10 or more; default the variable COLUMNS, the terminal's width, or 80
---@field height? integer lines of dots; two or three more tell the ticks; default 16
---@field xlog? boolean|number an axis of ratios, in powers of 10 (true) or 2; default false
---@field ylog? boolean|number the same for y; default false
---@field ymin? number where the axis begins; default a round number
---@field ymax? number where it ends; default a round number
---@field log? boolean|number of a matrix: shades by the logarithm; default false
---@field colour? boolean of a matrix: whether to set colours; default as in `h:plot`
---draw without Unicode; default true on a dumb terminal, and where LC_ALL, LC_CTYPE or LANG (the first that is set)
---names no UTF-8
---@field ascii? boolean

---A series as lines of text: a line of dots (Braille, or `' . :` in ASCII) with ticks. A matrix is drawn as a heat map,
---as `h:plot` of a `histogram2d` draws one, row 1 at the top (a transposed one is copied first); its options are
---`width`, `height`, `ascii`, and these two.
---@param y gpureduce.array|number[] the series, or a matrix
---@param options? gpureduce.plot.options
---@return string # lines without a newline at the end
function gr.plot(y, options) end

---A series as lines of text: a line of dots (Braille, or `' . :` in ASCII) with ticks. A matrix is drawn as a heat map,
---as `h:plot` of a `histogram2d` draws one, row 1 at the top (a transposed one is copied first); its options are
---`width`, `height`, `ascii`, and these two.
---@param options? gpureduce.plot.options
---@return string # lines without a newline at the end
function array:plot(options) end

---Call a function of the module and get a future instead of its results.
---@param f function a function of this module
---@vararg any
---@return gpureduce.future # of all results of f(...); for arrays it is done when the device has made them
function gr.async(f, ...) end

---Whether the result is there, or the operation has failed.
---@return boolean #
function future:done() end

---The results, once they are there. It may be asked again.
---@param seconds? number how long to wait at most
---@return any # the results; nil when they are not there after so long
---@return any # then: `"not done"`
function future:get(seconds) end

---@class gpureduce.many.options
---@field async? boolean give a future of all results; default false

---Several reductions with one synchronisation. Similar ones of small arrays share a launch.
---@param list table items `{name, a, ...}`: a reduction's name and its arguments
---@param options? gpureduce.many.options
---@return any # all results in order (`minmax` gives two)
function gr.many(list, options) end

---Time what the device does: start a timer, or time a function.
---@param f? function a function to call
---@vararg any
---@return gpureduce.timer|number # the timer; with f the seconds of the work that it queued, and then its results
function gr.timer(f, ...) end

---The seconds between the making of the timer and the first stop, on the device.
---@return number # the same at every call
function timer:stop() end

---@class gpureduce.load.options
---@field dtype? gpureduce.dtype what else stands before the options
---@field offset? integer raw files: where to begin, in bytes; default 0
---@field count? integer raw files: how many elements; default all that follow
---map the file instead of reading it: pages come when they are used, and nobody may shorten it (above); default false
---@field map? boolean
---a communicator of `gpureduce.mpi`: each rank gets its part, of a matrix its rows, and as second result where that
---begins ([ranks.md](ranks.md))
---@field comm? any

---Make an array from a file.
---@param path string the file's name
---@param dtype? gpureduce.dtype of a raw file; an NPY file has its own
---@param options? gpureduce.load.options
---@return gpureduce.array? # the elements, of an NPY file of two dimensions as a matrix; or nil when the system refuses
---@return table|string|nil # of NPY files the shape; after nil the message
---@return integer? # after nil the system's error number
---@overload fun(path: string, options: gpureduce.load.options): gpureduce.array?, table|string|nil, integer?
function gr.load(path, dtype, options) end

---@class gpureduce.save.options
---@field shape? integer[] NPY: lengths whose product is n; default the array's shape
---@field comm? any a communicator of `gpureduce.mpi`: the parts of all ranks become one file

---Write an array to a file: NPY when the name ends in `.npy`, else the raw elements. The old file is replaced whole.
---@param a gpureduce.array the input
---@param path string the file's name
---@param options? gpureduce.save.options
---@return boolean? # true, or nil when the system refuses
---@return string? # after nil the message
---@return integer? # after nil the system's error number
function gr.save(a, path, options) end

---Write an array to a file: NPY when the name ends in `.npy`, else the raw elements. The old file is replaced whole.
---@param path string the file's name
---@param options? gpureduce.save.options
---@return boolean? # true, or nil when the system refuses
---@return string? # after nil the message
---@return integer? # after nil the system's error number
function array:save(path, options) end

---@class gpureduce.wrap.options
---how many elements; needed but where the memory knows; default all of the FFI's array, or of the data
---@field n? integer
---@field dtype? gpureduce.dtype what else stands before the options
---@field offset? integer bytes from the pointer to the first element; default 0
---bytes from one element to the next; what lies between is never written; default the size of an element
---@field stride? integer
---kept alive as long as the array or a view of it (cdata is its own anchor; so is data, which takes no other)
---@field anchor? any
---@field volatile? boolean the owner writes at any time: every use looks at the memory again; default false

---Make an array of memory that somebody else owns, without a copy.
---@param pointer any light userdata, LuaJIT cdata (an array or a pointer), an address as a number, an array of the lua-carray rock, or an object with the methods `getSize` (bytes) and `getFFIPointer` or `getPointer`: LÖVE's Data
---@param dtype? gpureduce.dtype the type of the elements
---@param options? gpureduce.wrap.options needed, but for a carray, which knows its dtype and length and takes `volatile` alone, and for an array of the FFI and for data, which know them too
---@return gpureduce.array # of the device in use
---@overload fun(pointer: any, options: gpureduce.wrap.options): gpureduce.array
function gr.wrap(pointer, dtype, options) end

---Say that somebody else has written these elements: the owner of wrapped memory or of a tensor's, or who has a tensor
---of the array.
---@param a gpureduce.array an array of wrapped memory, or one that `dlpack` gave out
---@param i? integer the first one; none of a transposed matrix
---@param j? integer the last one; negative positions count from the end
---@return gpureduce.array # a itself
function gr.touch(a, i, j) end

---Say that somebody else has written these elements: the owner of wrapped memory or of a tensor's, or who has a tensor
---of the array.
---@param i? integer the first one; none of a transposed matrix
---@param j? integer the last one; negative positions count from the end
---@return gpureduce.array # a itself
function array:touch(i, j) end

---@class gpureduce.fromdlpack.options
---a `DLManagedTensorVersioned`, as of DLPack 1.0; false: a `DLManagedTensor`, from before that, which looks no
---different; default true; what `dlpack` gave knows it
---@field versioned? boolean
---@field readonly? boolean the array refuses writes, as it does where the tensor says so; default false
---others write at any time: every use on the other side looks at the memory again; default false
---@field volatile? boolean
---@field copy? boolean an array of its own, on the device in use; the deleter is called at once; default false
---CUDA's stream on which the tensor has been made: what uses the array comes after it. 1: the default one, 2: the
---thread's own, beyond: a handle; -1: none. Memory of the host has none; default 1
---@field stream? integer

---Make an array of another library's tensor, without a copy. It has the tensor from then on, and calls its deleter when
---the last view goes; when the call raises, at once.
---@param tensor any its address: light userdata, cdata or a number; or what `dlpack` gave
---@param options? gpureduce.fromdlpack.options
---@return gpureduce.array # of the tensor's device: memory of the host belongs to the device in use, as wrapped memory does, and so does managed memory on a GPU
function gr.fromdlpack(tensor, options) end

---@class gpureduce.dlpack.options
---@field versioned? boolean as of DLPack 1.0 (1.1); false: from before that; default true
---@field readonly? boolean others are told not to write; default false
---@field copy? boolean of a copy on the device in use, which nobody else has; default false
---CUDA's stream on which the tensor will be used, as of `fromdlpack`: its work comes after what has been queued here;
---default 1
---@field stream? integer

---Make a tensor of an array for another library, without a copy: views, matrices and transposed matrices as they lie.
---Both see what the other writes; across devices the array is told by `touch`, and brings its own writes there by
---`prefetch`.
---@param a gpureduce.array the array
---@param options? gpureduce.dlpack.options
---@return gpureduce.dlpack # of the memory that kernels use: the host's, or the device's
function gr.dlpack(a, options) end

---Make a tensor of an array for another library, without a copy: views, matrices and transposed matrices as they lie.
---Both see what the other writes; across devices the array is told by `touch`, and brings its own writes there by
---`prefetch`.
---@param options? gpureduce.dlpack.options
---@return gpureduce.dlpack # of the memory that kernels use: the host's, or the device's
function array:dlpack(options) end

---Its address, for whoever takes it over: C code, or `ffi.cast`.
---@return any # light userdata
function tensor:pointer() end

---The same as a number, for languages that know no light userdata, such as Python.
---@return integer # below 2^53
function tensor:address() end

---Say that the tensor has been taken over: its deleter is for somebody else to call.
function tensor:consume() end

---Call the deleter now, unless it has been consumed. `local d <close> = a:dlpack()` does so at the block's end.
function tensor:release() end

---The address of a function for Python's `PyCapsule_New`, which calls the deleter of a capsule that nobody has consumed
---([docs/python.md](python.md)).
---@return integer # the address
function tensor:destructor() end

---@class gpureduce.csv.options
---@field column? integer|string which one: its position, or its name in the first line; default 1
---@field separator? string one character; default `","`
---@field header? boolean the first line has the names; default true when `column` is a name
---@field dtype? gpureduce.dtype what else stands before the options

---Read one column of numbers from a CSV file. Numbers have a decimal point, whatever the host's locale says.
---@param path string the file's name
---@param dtype? gpureduce.dtype the type of the elements
---@param options? gpureduce.csv.options
---@return gpureduce.array? # the numbers, or nil when the system refuses
---@return string? # the column's name, if there is a header; after nil the message
---@return integer? # after nil the system's error number
---@overload fun(path: string, options: gpureduce.csv.options): gpureduce.array?, string?, integer?
function gr.csv(path, dtype, options) end

---The device in use, why it is that one, and how formulas run there: compiled by the driver, in blocks on the CPU, or
---step by step, with the reason (`GPUREDUCE_JIT=0` in the environment is one).
---@return string # its name, as `gr.use` takes it
---@return string # the reason in words
---@return string # how formulas run
function gr.backend() end

---The formulas that were compiled for the device in use, and the operators (`what` is "operator": map, then merge), the
---last used first. A device keeps 256; the one whose use lies back longest is let go. Formulas that differ in numbers,
---arrays or lengths alone are one; another dtype, another reduction, or views that do not begin at a multiple of 16
---bytes make another. What ends in `, present` are kernels for numbers of floats with `skipnan` (from compute
---capability 8.0 on): those of plain calls, but that they leave NaN out; steps say what that stands for, and any view
---will do.
---@return table # a list of `{what=, steps=, seconds=, uses=}`: what takes the elements, the steps in words, how long compiling took, how often it was used; empty where nothing is compiled
function gr.compiled() end

---The devices that there are.
---@return table # a list of `{name=, description=}`
function gr.devices() end

---Make new arrays on this device from now on. Those that exist stay where they are; `copy` brings one over.
---@param name string `"cpu"`, `"cuda:0"`, ...
---@return string # the device's name
function gr.use(name) end

---Bring an array to where the kernels run, ahead of the first that needs it.
---@param a gpureduce.array the input
---@return gpureduce.array # the same array
function gr.prefetch(a) end

---Bring an array to where the kernels run, ahead of the first that needs it.
---@return gpureduce.array # the same array
function array:prefetch() end

---Make the host's copy of an array current, ahead of reading single elements.
---@param a gpureduce.array the input
---@return gpureduce.array # the same array
function gr.sync(a) end

---Make the host's copy of an array current, ahead of reading single elements.
---@return gpureduce.array # the same array
function array:sync() end

---How many threads large work on the CPU is spread over; sets it when n is given. Results do not depend on it.
---@param n? integer 1 to 1024
---@return integer # the number
function gr.threads(n) end

---The instruction set that the CPU's kernels use; `GPUREDUCE_CPU` picks another. Results do not depend on it.
---@return string # `"generic"`, `"sse2"`, `"avx2"`, `"avx512"` or `"neon"`
function gr.instructions() end

---@class gpureduce.explain.options
---@field rows? integer as the operation takes it; so are `axis`, `pairs`, `ddof`, `accumulate`, `exact`
---@field axis? integer
---@field pairs? boolean
---@field ddof? number
---@field accumulate? string
---@field exact? boolean
---@field exclusive? boolean of scans
---@field reverse? boolean
---@field bins? integer of histograms
---@field min? number
---@field max? number
---@field modulo? boolean

---What a reduction, a scan or a histogram would do, without doing it: which kernel it takes, why, its grid, and what it
---moves. It serves what `gr.sum`, `gr.dot` and their like do; the line that `tostring` gives is also what
---`GPUREDUCE_TRACE=1` writes to stderr for each of these, before it begins. `scan` takes what `gr.scan` does
---(`exclusive`, `reverse`), `histogram` what `gr.histogram` does: `bins` with `min` and `max`, or with `modulo`. Which
---kernels there are says [kernels/cuda/README.md](../kernels/cuda/README.md).
---@param op string|gpureduce.operator its name, `minmax` or `sum_kahan` too; or `scan`, or `histogram`; or an operator of one's own, with `rows` and `axis` alone
---@param a gpureduce.array|gpureduce.expression what it would reduce; of those that take two, b follows. Of expressions the kernel is `formula`, or `formula, stored` where their elements go to memory first
---@param options? gpureduce.explain.options
---@return table # `op`, `device`, `kernel` (on the CPU: the loop), `why`, `text` (all of it in a line); `blocks` and `threads` of each (CPU: pieces of work, and threads), `launches`, `combine` (how the parts of a vector become one), `instructions` (CPU), each where it is known; `shared` bytes of a block, `scratch` bytes; `reads` and `writes` bytes of inputs and results; `uploads`, the bytes that would be copied to the device first
---@overload fun(op: string, a: gpureduce.array|gpureduce.expression, b: gpureduce.array|gpureduce.expression, options?: gpureduce.explain.options): table
---@overload fun(op: "scan", a: gpureduce.array, how?: string, options?: gpureduce.explain.options): table
function gr.explain(op, a, options) end

---What has been moved, launched and waited for so far, in this Lua state.
---@return table # `bytes_up`, `bytes_down`, `copies`, `launches`, `syncs`, `allocations`
function gr.stats() end

---Bytes in use by this Lua state and by the process. Whole blocks count: they come in steps of 64 bytes (on a device
---256), from 1 KiB on in four steps to the next power of two, and these are 2 MiB at most; a block kept for reuse may
---be a quarter larger than asked, by 64 MiB at most. Of this state are:
---
---- `live`: bytes of its arrays' data, copies on the host and on devices; zeros that nobody has looked at take none,
---  views share, wrapped memory does not count;
---- `arrays`: how many pieces of data those are;
---- `budget`: how many bytes may be live before a collection starts, and `collections`: how often a full one did. In
---  generational mode (Lua 5.4, where `lua` starts in it) a step comes first, and is enough if it gives back an eighth
---  of the budget;
---- `pinned`: page-locked memory of the host for transfers;
---- `scratch`: memory of devices that their kernels work in, 1 MiB at first where a GPU is used. It goes when the state
---  closes.
---
---Of the process, all its Lua states together, are:
---
---- `host` and `device`: bytes in use on the host and on all devices. Of another state, `host` also has what that state
---  keeps of small arrays that are gone, 1 MiB at most;
---- `pooled`: bytes kept for reuse, on the host and on all devices;
---- `unused`: bytes that devices have given and no block is made of. Blocks from 48 KiB to 8 MiB are parts of slabs, of
---  2 to 32 MiB, which go back one by one as soon as no part of them is in use or kept for reuse;
---- `peak`: the most that `host` and `device` together ever were.
---@return table # these eleven numbers by name
function gr.memory() end

---Give the memory that is kept for reuse back to the system, and with glibc the pages that its allocator kept. The last
---Lua state of a process does so when it closes.
---@return integer # the bytes given back
function gr.trim() end

---@class gpureduce.gc.options
---@field budget? integer the smallest budget, in bytes
---@field auto? boolean whether passing the budget collects by itself; default true at the start
---the most bytes that this state's arrays may take, both sides together, as in `gr.safe`. It can be lowered, never
---raised; default what the host or `gr.safe` says
---@field limit? integer
---at most so many bytes are kept for reuse, of the host and of each device; `"auto"`: as above. Holds for the whole
---process; default "auto" at the start
---@field cache? integer|string

---Set how many bytes may live before a collection is started, and how many the process keeps for reuse. By itself it
---keeps 256 MiB of the host's memory, and of each device no more than was in use there at once within the last second
---or two, together with what is in use a quarter more (but up to 32 MiB always). What lay unused longest goes back
---first.
---
---After `collectgarbage "stop"` passing the budget starts no collection (but in Lua 5.1, which does not tell: there
---`auto` says so); memory that is refused still does, as in Lua itself.
---@param options gpureduce.gc.options
function gr.gc(options) end

---Give an array's memory back now. Views that share it keep it until they are released or collected. A second release
---does nothing; any other use of a released array raises.
---@param a gpureduce.array the input
function gr.release(a) end

---Give an array's memory back now. Views that share it keep it until they are released or collected. A second release
---does nothing; any other use of a released array raises.
function array:release() end

---Call a function and release every array that it made, but those that it returns. What finalizers make meanwhile is
---not the function's (but in Lua 5.1, which does not tell).
---@param f function it cannot yield
---@vararg any
---@return any # the results of f(...); arrays in them, in returned tables, histograms and futures stay
function gr.scope(f, ...) end

---@class gpureduce.safe.options
---@field files? boolean whether `load`, `save`, `csv` and the paths of pictures stay; default false
---@field wrap? boolean whether `wrap` (pointers) stays; default false
---@field bytes? integer the most that this state's arrays may take, both sides together; default no limit
---@field elements? integer the most that one array may have; default no limit
---after so long a call on the CPU raises "interrupted", one that waits for a pipe or draws a picture, too; default no
---limit
---@field seconds? number
---@field threads? integer sets `gr.threads`, which scripts cannot change from then on; default as it is

---Take away from this Lua state what the scripts of strangers should not have, and set them limits, for good. For
---hosts, before they run such scripts; [SECURITY.md](../SECURITY.md) says what is promised.
---@param options? gpureduce.safe.options
function gr.safe(options) end

---Seconds on a clock that only goes forward, for timing (`os.clock` adds up the time of all threads).
---@return number # seconds since some moment in the past
function gr.clock() end

---The ladder of an operation: the kernels that tutorials teach and the module's own, by name, simplest first.
---@param operation string `"dot"`, `"sum"`, `"min"`, `"max"`, `"histogram"`, `"scan"` or `"rmsnorm"`
---@return table # a list of tables: `name`, for the option `kernel`; `description`; `source`; `dtypes`, `"all"`, `"f32"` or `"i32"`; `error`, as a multiple of 2^-24 times the sum of magnitudes; `block` and `blocks`, the usual block size and those it can do (the teaching kernels); `default`, whether it is what runs without a name; `cuda_only`, whether the CPU has no algorithm of this shape and computes in blocks instead
function gr.kernels(operation) end

---An array at a glance, as lines of text: what it is, where it lies, its first and last elements (of a matrix its
---corners), the least, the mean and the greatest, and how many NaN there are. With NaN among them the three are of the
---rest.
---@param a gpureduce.array the input
---@param count? integer elements from each end, rows and columns of a matrix, 1 to 100
---@return string # lines without a newline at the end, as wide as the terminal (the variable COLUMNS, what the terminal says, or 80); columns of a matrix that have no room are left out
function gr.show(a, count) end

---An array at a glance, as lines of text: what it is, where it lies, its first and last elements (of a matrix its
---corners), the least, the mean and the greatest, and how many NaN there are. With NaN among them the three are of the
---rest.
---@param count? integer elements from each end, rows and columns of a matrix, 1 to 100
---@return string # lines without a newline at the end, as wide as the terminal (the variable COLUMNS, what the terminal says, or 80); columns of a matrix that have no room are left out
function array:show(count) end

---This reference at the prompt: an entry, a chapter, an option and who takes it, or all topics by chapter.
---@param topic? string a name such as `"sum"`, `"gr.sum"`, `"histogram:quantile"`, an option such as `"skipnan"`, or the title of a chapter
---@return string # lines as wide as the terminal, without a newline at the end
function gr.help(topic) end

---@class gpureduce.allclose.options
---@field rtol? number how far apart, in parts of |b|; default 1e-5
---@field atol? number how far apart besides; default 1e-8
---@field nan_equal? boolean two NaN are close; default false

---Whether all elements are close: |a - b| <= atol + rtol |b|, NumPy's rule. An infinity is close to itself alone, NaN
---to nothing unless `nan_equal` says so.
---@param a gpureduce.array|number|gpureduce.expression one side
---@param b gpureduce.array|number|gpureduce.expression the other; one of the two is an array or an expression
---@param options? gpureduce.allclose.options
---@return boolean # true of no elements
function gr.allclose(a, b, options) end

---Whether all elements are close: |a - b| <= atol + rtol |b|, NumPy's rule. An infinity is close to itself alone, NaN
---to nothing unless `nan_equal` says so.
---@param b gpureduce.array|number|gpureduce.expression the other; one of the two is an array or an expression
---@param options? gpureduce.allclose.options
---@return boolean # true of no elements
function array:allclose(b, options) end

---Whether all elements are close: |a - b| <= atol + rtol |b|, NumPy's rule. An infinity is close to itself alone, NaN
---to nothing unless `nan_equal` says so.
---@param b gpureduce.array|gpureduce.expression|number|gpureduce.expression the other; one of the two is an array or an expression
---@param options? gpureduce.allclose.options
---@return boolean # true of no elements
function expression:allclose(b, options) end

---@class gpureduce.isclose.options
---@field rtol? number how far apart, in parts of |b|; default 1e-5
---@field atol? number how far apart besides; default 1e-8
---@field nan_equal? boolean two NaN are close; default false
---the array that takes the results (their dtype and length; it may be the input itself, but not overlap it otherwise)
---@field into? gpureduce.array

---A mask: 1 where elements are close, as `allclose` has it, 0 elsewhere.
---@param a gpureduce.array|number|gpureduce.expression one side
---@param b gpureduce.array|number|gpureduce.expression the other; one of the two is an array or an expression
---@param options? gpureduce.isclose.options
---@return gpureduce.array|gpureduce.expression # of u8, as long as the operands; an expression if one of them is one
function gr.isclose(a, b, options) end

---A mask: 1 where elements are close, as `allclose` has it, 0 elsewhere.
---@param b gpureduce.array|number|gpureduce.expression the other; one of the two is an array or an expression
---@param options? gpureduce.isclose.options
---@return gpureduce.array|gpureduce.expression # of u8, as long as the operands; an expression if one of them is one
function array:isclose(b, options) end

---A mask: 1 where elements are close, as `allclose` has it, 0 elsewhere.
---@param b gpureduce.array|gpureduce.expression|number|gpureduce.expression the other; one of the two is an array or an expression
---@param options? gpureduce.isclose.options
---@return gpureduce.array|gpureduce.expression # of u8, as long as the operands; an expression if one of them is one
function expression:isclose(b, options) end

---@class gpureduce.differ.options
---@field rtol? number how far apart, in parts of |b|; default 1e-5, once there are options
---@field atol? number how far apart besides; default 1e-8, once there are options
---@field nan_equal? boolean two NaN are close; default false, once there are options

---Where two arrays differ first, and both elements there. Without options every difference counts, as in `equal`: NaN
---are equal, zeros of either sign too. With options what `allclose` says with the same ones.
---@param a gpureduce.array|number|gpureduce.expression one side
---@param b gpureduce.array|number|gpureduce.expression the other; one of the two is an array or an expression
---@param options? gpureduce.differ.options
---@return integer|nil # the first position that differs, of a matrix in its rows one after the other; nil: none does
---@return number? # the element of a there
---@return number? # the element of b there
function gr.differ(a, b, options) end

---Where two arrays differ first, and both elements there. Without options every difference counts, as in `equal`: NaN
---are equal, zeros of either sign too. With options what `allclose` says with the same ones.
---@param b gpureduce.array|number|gpureduce.expression the other; one of the two is an array or an expression
---@param options? gpureduce.differ.options
---@return integer|nil # the first position that differs, of a matrix in its rows one after the other; nil: none does
---@return number? # the element of a there
---@return number? # the element of b there
function array:differ(b, options) end

---Where two arrays differ first, and both elements there. Without options every difference counts, as in `equal`: NaN
---are equal, zeros of either sign too. With options what `allclose` says with the same ones.
---@param b gpureduce.array|gpureduce.expression|number|gpureduce.expression the other; one of the two is an array or an expression
---@param options? gpureduce.differ.options
---@return integer|nil # the first position that differs, of a matrix in its rows one after the other; nil: none does
---@return number? # the element of a there
---@return number? # the element of b there
function expression:differ(b, options) end

---Whether a value is an array of this module: a vector, a matrix, a transposed one, also when it has been released.
---Nothing of the value is asked, no metamethod runs, and nothing raises.
---@param x? any any value, or none
---@return boolean # false of expressions, tables and all else
function gr.isarray(x) end

return gr
