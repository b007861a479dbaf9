-- Bad input: the exact text, with both sides named; and nothing changes. One table, one row a mistake:
-- what is run (with a, b, ... in its environment) and what it says.
local S = require "spec.support"
local gr = S.gr

local load_in = function(text, environment)
  if setfenv then return setfenv(assert(loadstring(text)), environment) end -- luacheck: ignore
  return assert(load(text, "=row", "t", environment))
end

local rows = {
  -- making
  { "gr.array({ 1 }, 'f23')", "bad argument #2 to 'array' (unknown dtype 'f23' (did you mean 'f32'?))" },
  { "gr.array({ 1 }, 'complex')", "bad argument #2 to 'array' (unknown dtype 'complex')" },
  { "gr.array({ 1 }, 32)", "bad argument #2 to 'array' (dtype name expected, got number)" },
  { "gr.array(true)", "bad argument #1 to 'array' (table, length or string expected, got boolean)" },
  { "gr.array()", "bad argument #1 to 'array' (table, length or string expected, got no value)" },
  { "gr.array(-1)", "bad argument #1 to 'array' (length of 0 or more expected, got -1)" },
  { "gr.array(1.5)", "bad argument #1 to 'array' (whole number expected, got 1.5)" },
  { "gr.array({ 1, 'x' })", "bad argument #1 to 'array' (element 2: number expected, got string)" },
  { "gr.array({ 1, 2, {} }, 'u8')", "bad argument #1 to 'array' (element 3: number expected, got table)" },
  { "gr.array({ 256 }, 'u8')", "bad argument #1 to 'array' (element 1: value 256 does not fit u8 (0 to 255))" },
  { "gr.array({ 1, -129 }, 'i8')", "bad argument #1 to 'array' (element 2: value -129 does not fit i8 (-128 to 127))" },
  { "gr.array({ 0.5 }, 'i32')",
    "bad argument #1 to 'array' (element 1: value 0.5 is not a whole number, as i32 needs)" },
  { "gr.array({ nan }, 'i32')",
    "bad argument #1 to 'array' (element 1: value nan is not a whole number, as i32 needs)" },
  { "gr.array({ huge }, 'i64')",
    "bad argument #1 to 'array' (element 1: value inf is not a whole number, as i64 needs)" },
  { "gr.array({ 2 ^ 63 }, 'i64')",
    "bad argument #1 to 'array' (element 1: value 9.2233720368548e+18 does not fit i64)" },
  { "gr.array({ 65520 }, 'f16')", "bad argument #1 to 'array' (element 1: value 65520 does not fit f16)" },
  { "gr.array({ 1e39 }, 'f32')", "bad argument #1 to 'array' (element 1: value 1e+39 does not fit f32)" },
  { "gr.array({ -3.5e38 }, 'bf16')", "bad argument #1 to 'array' (element 1: value -3.5e+38 does not fit bf16)" },
  { "gr.array('abc', 'f32')", "bad argument #1 to 'array' (3 bytes are not a whole number of f32 elements)" },
  { "gr.frombytes('abcdefghi', 'f64')",
    "bad argument #1 to 'frombytes' (9 bytes are not a whole number of f64 elements)" },
  { "gr.frombytes({}, 'f64')", "bad argument #1 to 'frombytes' (string expected, got table)" },
  { "gr.zeros('x')", "bad argument #1 to 'zeros' (number expected, got string)" },
  { "gr.zeros(-3, 'u8')", "bad argument #1 to 'zeros' (length of 0 or more expected, got -3)" },
  { "gr.zeros(3, 'f65')", "bad argument #2 to 'zeros' (unknown dtype 'f65' (did you mean 'f64'?))" },
  { "gr.full(3, 300, 'u8')", "bad argument #2 to 'full' (value 300 does not fit u8 (0 to 255))" },
  { "gr.full(3)", "bad argument #2 to 'full' (number expected, got no value)" },
  { "gr.arange(1, 5, 0)", "bad argument #3 to 'arange' (step other than 0 expected)" },
  { "gr.arange(1, huge)", "bad argument #2 to 'arange' (finite number expected, got inf)" },
  { "gr.arange(1, 300, 'u8')", "bad argument #1 to 'arange' (the range from 1 to 300 does not fit u8)" },
  { "gr.arange(0, 1, 0.5, 'u8')",
    "bad argument #1 to 'arange' (element 2: value 0.5 is not a whole number, as u8 needs)" },
  { "gr.linspace(0, 1, -2)", "bad argument #3 to 'linspace' (length of 0 or more expected, got -2)" },
  { "gr.linspace(0, 1, 3, 'i32')", "bad argument #4 to 'linspace' (float dtype expected, got i32)" },
  { "gr.rand(5, 'i32')", "bad argument #2 to 'rand' (float dtype expected, got i32)" },
  { "gr.randn(5, 'f32', { sed = 1 })", "bad argument #3 to 'randn' (unknown option 'sed' (did you mean 'seed'?))" },

  -- elements and views
  { "a[11] = 1", "gpureduce.array: position 11 is out of range (1 to 10)" },
  { "a[0] = 1", "gpureduce.array: position 0 is out of range (1 to 10)" },
  { "a.x = 1", "gpureduce.array: position expected, got string" },
  { "a[1] = 'x'", "gpureduce.array: number expected, got string" },
  { "u[1] = 256", "gpureduce.array: value 256 does not fit u8 (0 to 255)" },
  { "u[1] = 0.5", "gpureduce.array: value 0.5 is not a whole number, as u8 needs" },
  { "gr.slice(a, 1, 11)", "bad argument #3 to 'slice' (position from 0 to 10 expected, got 11)" },
  { "gr.slice(a, 0, 3)", "bad argument #2 to 'slice' (position from 1 to 10 expected, got 0)" },
  { "gr.slice(a, 12)", "bad argument #2 to 'slice' (position from 1 to 10 expected, got 12)" },
  { "gr.slice(a, 1, 3, 0)", "bad argument #4 to 'slice' (step of 1 or more, or -1 or less, expected, got 0)" },
  { "gr.slice(a, 1.5)", "bad argument #2 to 'slice' (whole number expected, got 1.5)" },
  { "gr.slice({}, 1)",
    "bad argument #1 to 'slice' (gpureduce.array expected, got table (write a:slice{...}, not a.slice{...}))" },
  { "gr.table(a, 1, 20)", "bad argument #3 to 'table' (position from 0 to 10 expected, got 20)" },
  { "gr.bytes(a, 5, 3)", "bad argument #3 to 'bytes' (position from 4 to 10 expected, got 3)" },
  { "gr.fill(u, -1)", "bad argument #2 to 'fill' (value -1 does not fit u8 (0 to 255))" },
  { "gr.equal(a, 5)", "bad argument #2 to 'equal' (gpureduce.array expected, got number)" },
  { "gr.copy(a, { inot = b })", "bad argument #2 to 'copy' (unknown option 'inot' (did you mean 'into'?))" },
  { "gr.copy(a, { into = b })", "bad argument #2 to 'copy' (option 'into': f32[10] expected, got f32[9])" },
  { "gr.copy(a, { into = a })", "bad argument #2 to 'copy' (option 'into': overlaps the input)" },
  { "gr.rand(5, { into = a })", "bad argument #2 to 'rand' (option 'into': f32[5] expected, got f32[10])" },
  { "gr.info(5)", "bad argument #1 to 'info' (gpureduce.array expected, got number)" },
  { "gr.sync(released)", "bad argument #1 to 'sync' (array has been released)" },
  { "gr.prefetch(true)", "bad argument #1 to 'prefetch' (gpureduce.array expected, got boolean)" },
  { "gr.release('a')", "bad argument #1 to 'release' (gpureduce.array expected, got string)" },
  { "gr.ones(2 ^ 70)", "bad argument #1 to 'ones' (whole number expected, got 1.1805916207174e+21)" },
  { "gr.copy()", "bad argument #1 to 'copy' (gpureduce.array expected, got no value (write gr.copy(a) or a:copy()))" },
  { "gr.sum(released)", "bad argument #1 to 'sum' (array has been released)" },
  { "gr.dot(a, released)", "bad argument #2 to 'dot' (array has been released)" },
  { "a:dot(released)", "bad argument #2 to 'dot' (array has been released)" },
  { "local _ = released[1]", "gpureduce.array: array has been released" },
  { "released[1] = 1", "gpureduce.array: array has been released" },

  -- reductions
  { "gr.dot(a, b)", "bad argument #2 to 'dot' (length 10 expected, got 9)" },
  { "a:dot(b)", "bad argument #2 to 'dot' (length 10 expected, got 9)" },
  { "gr.dot(a, d)", "bad argument #2 to 'dot' (dtype f32 expected, got f64)" },
  { "gr.dot(a)", "bad argument #2 to 'dot' (gpureduce.array expected, got no value)" },
  { "gr.mse(a, b)", "bad argument #2 to 'mse' (length 10 expected, got 9)" },
  { "gr.cosine(a, u)", "bad argument #2 to 'cosine' (dtype f32 expected, got u8)" },
  { "gr.sum(5)", "bad argument #1 to 'sum' (gpureduce.array expected, got number)" },
  { "gr.sum(gr.sum)", "bad argument #1 to 'sum' (gpureduce.array expected, got function)" },
  { "gr.min(empty)", "bad argument #1 to 'min' (array is empty: 'min' needs an element)" },
  { "gr.max(empty)", "bad argument #1 to 'max' (array is empty: 'max' needs an element)" },
  { "gr.minmax(empty)", "bad argument #1 to 'minmax' (array is empty: 'minmax' needs an element)" },
  { "gr.argmin(empty)", "bad argument #1 to 'argmin' (array is empty: 'argmin' needs an element)" },
  { "gr.argmax(empty)", "bad argument #1 to 'argmax' (array is empty: 'argmax' needs an element)" },
  { "gr.prod(a, { rows = 7 })", "bad argument #2 to 'prod' (option 'rows': 7 rows do not divide length 10)" },
  { "gr.mean(a, { axes = 1 })", "bad argument #2 to 'mean' (unknown option 'axes' (did you mean 'axis'?))" },
  { "gr.any(gr.setmetatable)",
    "bad argument #1 to 'any' (gpureduce.array expected, got nil)" },
  { "gr.any(odd)",
    "bad argument #1 to 'any' (gpureduce.array expected, got table (write a:any{...}, not a.any{...}))" },
  { "gr.any(true)", "bad argument #1 to 'any' (gpureduce.array expected, got boolean)" },
  { "gr.all(a, { rows = 'x' })", "bad argument #2 to 'all' (option 'rows': number expected, got string)" },
  { "gr.count(a, { axis = 2 })", "bad argument #2 to 'count' (option 'axis': only together with 'rows')" },
  { "gr.reduce(a, 'summ')", "bad argument #2 to 'reduce' (unknown operation 'summ' (did you mean 'sum'?))" },
  { "gr.reduce(a, 'entropy')", "bad argument #2 to 'reduce' (unknown operation 'entropy')" },
  { "gr.reduce(a)", "bad argument #2 to 'reduce' (operation name expected, got no value)" },
  { "gr.reduce(a, 'dot')", "bad argument #2 to 'reduce' (operation of one array expected, 'dot' takes two)" },
  { "gr.norm(a, 3)", "bad argument #2 to 'norm' (norm of order 1, 2 or math.huge expected, got 3)" },
  { "gr.norm(a, true)", "bad argument #2 to 'norm' (number expected, got boolean)" },
  { "gr.var(a, { ddof = 10 })", "bad argument #2 to 'var' (option 'ddof': less than the length 10 expected, got 10)" },
  { "gr.std(a, { ddof = 12 })", "bad argument #2 to 'std' (option 'ddof': less than the length 10 expected, got 12)" },
  { "gr.var(a, { dof = 1 })", "bad argument #2 to 'var' (unknown option 'dof' (did you mean 'ddof'?))" },
  { "gr.var(a, { ddof = 'x' })", "bad argument #2 to 'var' (option 'ddof': number expected, got string)" },
  { "gr.sum(a, 5)", "bad argument #2 to 'sum' (options table expected, got number)" },
  { "gr.sum(a, { row = 2 })", "bad argument #2 to 'sum' (unknown option 'row' (did you mean 'rows'?))" },
  { "gr.sum(a, { rows = 3 })", "bad argument #2 to 'sum' (option 'rows': 3 rows do not divide length 10)" },
  { "gr.sum(a, { rows = 0 })", "bad argument #2 to 'sum' (option 'rows': 1 or more expected, got 0)" },
  { "gr.sum(a, { rows = 2.5 })", "bad argument #2 to 'sum' (option 'rows': whole number expected, got 2.5)" },
  { "gr.sum(a, { rows = 2, axis = 3 })",
    "bad argument #2 to 'sum' (option 'axis': 1 (down the columns) or 2 (along the rows) expected, got 3)" },
  { "gr.sum(a, { axis = 1 })", "bad argument #2 to 'sum' (option 'axis': only together with 'rows')" },
  { "gr.sum(a, { into = d })",
    "bad argument #2 to 'sum' (option 'into': only together with 'at', 'rows' or 'segments')" },
  { "gr.dot(a, a, { pairs = true })", "bad argument #3 to 'dot' (option 'pairs': only together with 'rows')" },
  { "gr.sum(a, { rows = 2, into = a })", "bad argument #2 to 'sum' (option 'into': f64[2] expected, got f32[10])" },
  { "gr.sum(a, { rows = 2, into = gr.zeros(3, 'f64') })",
    "bad argument #2 to 'sum' (option 'into': f64[2] expected, got f64[3])" },
  { "gr.sum(a, { rows = 2, into = 5 })",
    "bad argument #2 to 'sum' (option 'into': gpureduce.array expected, got number)" },
  { "gr.sum(d, { rows = 2, into = d:slice(1, 2) })", "bad argument #2 to 'sum' (option 'into': overlaps the input)" },
  { "gr.sum(a, { accumulate = 'f16' })",
    "bad argument #2 to 'sum' (option 'accumulate': unknown mode 'f16' (did you mean 'f32'?))" },
  { "gr.sum(u, { accumulate = 'kahan' })",
    "bad argument #2 to 'sum' (option 'accumulate': float dtype expected, got u8)" },
  { "gr.dot(a, b, { rows = 2 })", "bad argument #2 to 'dot' (length 5 (of a row) expected, got 9)" },
  { "gr.dot(a, d, { rows = 2 })", "bad argument #2 to 'dot' (dtype f32 expected, got f64)" },
  { "gr.dot(a, b, { rows = 2, pairs = true })", "bad argument #2 to 'dot' (length 10 expected, got 9)" },
  { "gr.mse(a, b, { pears = true })", "bad argument #3 to 'mse' (unknown option 'pears' (did you mean 'pairs'?))" },
  { "gr.sum(a, { [1] = 5 })", "bad argument #2 to 'sum' (option names are strings, got a number)" },

  -- segments
  { "gr.sum(a, { segments = 5 })",
    "bad argument #2 to 'sum' (option 'segments': table or gpureduce.array expected, got number)" },
  { "gr.sum(a, { segments = a })", "bad argument #2 to 'sum' (option 'segments': dtype i64 or i32 expected, got f32)" },
  { "gr.sum(a, { segments = {} })",
    "bad argument #2 to 'sum' (option 'segments': 1 or more positions expected, got 0)" },
  { "gr.sum(a, { segments = { 1, 'x' } })",
    "bad argument #2 to 'sum' (option 'segments': position 2: number expected, got string)" },
  { "gr.sum(a, { segments = { 1, 2.5 } })",
    "bad argument #2 to 'sum' (option 'segments': position 2: value 2.5 is not a whole number, as i64 needs)" },
  { "gr.sum(a, { segments = { 0, 4 } })",
    "bad argument #2 to 'sum' (option 'segments': positions from 1 to 11 expected, but position 1 is 0)" },
  { "gr.sum(a, { segments = { 1, 12 } })",
    "bad argument #2 to 'sum' (option 'segments': positions from 1 to 11 expected, but position 2 is 12)" },
  { "gr.sum(a, { segments = { 1, 5, 4 } })",
    "bad argument #2 to 'sum' (option 'segments': positions must not fall, but position 2 is 5 and position 3 is 4)" },
  { "gr.sum(a, { segments = { 1, 5 }, rows = 2 })", "bad argument #2 to 'sum' (option 'segments': takes no 'rows')" },
  { "gr.sum(a, { segments = { 1, 5 }, axis = 2 })", "bad argument #2 to 'sum' (option 'segments': takes no 'axis')" },
  { "gr.dot(a, a, { segments = { 1, 5 }, pairs = true })",
    "bad argument #3 to 'dot' (option 'segments': takes no 'pairs')" },
  { "gr.min(a, { segments = { 1, 5, 5 } })",
    "bad argument #2 to 'min' (option 'segments': segment 2 is empty: 'min' needs an element)" },
  { "gr.sum(a, { segment = { 1 } })",
    "bad argument #2 to 'sum' (unknown option 'segment' (did you mean 'segments'?))" },
  { "gr.sum(a, { segments = { 1, 5 }, into = d })",
    "bad argument #2 to 'sum' (option 'into': f64[1] expected, got f64[10])" },
  { "local o = gr.array({ 1, 5 }, 'i64'); gr.sum(u, { segments = o, into = o:slice(1, 1) })",
    "bad argument #2 to 'sum' (option 'into': overlaps the input)" },

  -- calls in the wrong shape
  { "gr:sum(a)", "bad argument #1 to 'sum' (gpureduce.array expected, got table (write gr.sum(a), not gr:sum(a)))" },
  { "a.sum()", "bad argument #1 to 'sum' (gpureduce.array expected, got no value (write gr.sum(a) or a:sum()))" },
  { "a.sum({ rows = 2 })",
    "bad argument #1 to 'sum' (gpureduce.array expected, got table (write a:sum{...}, not a.sum{...}))" },
  { "gr.sum({ 1, 2 })",
    "bad argument #1 to 'sum' (gpureduce.array expected, got table (gr.array makes one of it))" },
  { "gr.reduce('sum', a)",
    "bad argument #1 to 'reduce' (gpureduce.array expected, got string (argument #2 is one: are they swapped?))" },
  { "gr.save('x.raw', a)",
    "bad argument #1 to 'save' (gpureduce.array expected, got string (argument #2 is one: are they swapped?))" },
  { "gr.fill(3, a)",
    "bad argument #1 to 'fill' (gpureduce.array expected, got number (argument #2 is one: are they swapped?))" },
  { "gr.histogram({ bins = 2 }, a)",
    "bad argument #1 to 'histogram' (gpureduce.array expected, got table (argument #2 is one: are they swapped?))" },
  { "gr.dot(a, { rows = 2 }, a)",
    "bad argument #2 to 'dot' (gpureduce.array expected, got table (argument #3 is one: are they swapped?))" },
  { "gr.zeros('u8', 5)",
    "bad argument #1 to 'zeros' (number expected, got string (a dtype comes after the numbers))" },
  { "gr.full(3, 'u8', 7)",
    "bad argument #3 to 'full' (dtype name expected, got number (argument #2 is one: are they swapped?))" },
  { "gr.full(3, 'u8')",
    "bad argument #2 to 'full' (number expected, got string (a dtype comes after the numbers))" },
  { "gr.array('f32', { 1 })",
    "bad argument #2 to 'array' (dtype name expected, got table (argument #1 is one: are they swapped?))" },
  { "gr.scan(a, { exclusive = true })",
    "bad argument #2 to 'scan' (operation name expected, got table (options come after it))" },

  -- quantiles
  { "gr.quantile(empty, 0.5)", "bad argument #1 to 'quantile' (array is empty: 'quantile' needs an element)" },
  { "gr.median(empty)", "bad argument #1 to 'median' (array is empty: 'median' needs an element)" },
  { "gr.median(5)", "bad argument #1 to 'median' (gpureduce.array expected, got number)" },
  { "gr.quantile(a)",
    "bad argument #2 to 'quantile' (share from 0 to 1 or table of shares expected, got no value)" },
  { "gr.quantile(a, 'x')",
    "bad argument #2 to 'quantile' (share from 0 to 1 or table of shares expected, got string)" },
  { "gr.quantile(a, 50)", "bad argument #2 to 'quantile' (share from 0 to 1 expected, got 50)" },
  { "gr.quantile(a, nan)", "bad argument #2 to 'quantile' (share from 0 to 1 expected, got nan)" },
  { "gr.quantile(a, { 0.5, -0.1 })", "bad argument #2 to 'quantile' (share 2: share from 0 to 1 expected, got -0.1)" },
  { "gr.quantile(a, { 'x' })", "bad argument #2 to 'quantile' (share 1: number expected, got string)" },
  { "gr.quantile(a, 0.5, { method = 'low' })",
    "bad argument #3 to 'quantile' (option 'method': unknown method 'low' (did you mean 'lower'?))" },
  { "gr.quantile(a, 0.5, { metod = 'lower' })",
    "bad argument #3 to 'quantile' (unknown option 'metod' (did you mean 'method'?))" },
  { "gr.quantile(a, 0.5, { into = d })",
    "bad argument #3 to 'quantile' (option 'into': only together with a table of shares)" },
  { "gr.quantile(a, { 0.5 }, { into = d })",
    "bad argument #3 to 'quantile' (option 'into': f64[1] expected, got f64[10])" },
  { "gr.quantile(a, { 0.5 }, { method = 'lower', into = d:slice(1, 1) })",
    "bad argument #3 to 'quantile' (option 'into': f32[1] expected, got f64[1])" },

  -- histogram
  { "gr.histogram(a)", "bad argument #2 to 'histogram' (options table with 'bins' or 'edges' expected, got no value)" },
  { "gr.histogram(a, {})", "bad argument #2 to 'histogram' (option 'bins' or 'edges' expected)" },
  { "gr.histogram(a, { bin = 5 })", "bad argument #2 to 'histogram' (unknown option 'bin' (did you mean 'bins'?))" },
  { "gr.histogram(a, { bins = 0 })",
    "bad argument #2 to 'histogram' (option 'bins': 1 to 2147483648 expected, got 0)" },
  { "gr.histogram(a, { bins = -4 })",
    "bad argument #2 to 'histogram' (option 'bins': 1 to 2147483648 expected, got -4)" },
  { "gr.histogram(a, { bins = 2.5 })",
    "bad argument #2 to 'histogram' (option 'bins': whole number expected, got 2.5)" },
  { "gr.histogram(a, { bins = 4, min = nan })",
    "bad argument #2 to 'histogram' (option 'min': finite number expected, got nan)" },
  { "gr.histogram(a, { bins = 4, max = huge })",
    "bad argument #2 to 'histogram' (option 'max': finite number expected, got inf)" },
  { "gr.histogram(a, { bins = 4, min = 1, max = 1 })", "bad argument #2 to 'histogram' (min 1 is not below max 1)" },
  { "gr.histogram(a, { bins = 4, min = 2, max = 1 })", "bad argument #2 to 'histogram' (min 2 is not below max 1)" },
  { "gr.histogram(a, { bins = 4, into = a })",
    "bad argument #2 to 'histogram' (option 'into': histogram expected, got userdata)" },
  { "gr.histogram(a, { bins = 4, into = gr.histogram(a, { bins = 5 }) })",
    "bad argument #2 to 'histogram' (option 'into': histogram of i64[4] expected, got i64[5])" },
  { "local h = gr.histogram(a, { bins = 4 }); h.edges:release(); gr.histogram(a, { bins = 4, into = h })",
    "bad argument #2 to 'histogram' (option 'into': the histogram's edges have been released)" },
  { "gr.histogram(a, { bins = 5, density = true, into = gr.histogram(a, { bins = 5 }) })",
    "bad argument #2 to 'histogram' (option 'density': takes no 'into')" },
  { "gr.bincount(gr.array({ 0, 2 }, 'u8'), { into = gr.zeros(2, 'i64') })",
    "bad argument #2 to 'bincount' (option 'into': i64[3] expected, got i64[2])" },
  { "gr.histogram(a, { edges = { 1 } })",
    "bad argument #2 to 'histogram' (option 'edges': 2 or more edges expected, got 1)" },
  { "gr.histogram(a, { edges = { 1, 3, 2 } })",
    "bad argument #2 to 'histogram' (edges must rise, but edge 2 is 3 and edge 3 is 2)" },
  { "gr.histogram(a, { edges = { 1, 1 } })",
    "bad argument #2 to 'histogram' (edges must rise, but edge 1 is 1 and edge 2 is 1)" },
  { "gr.histogram(a, { edges = { 1, nan } })", "bad argument #2 to 'histogram' (edge 2 is nan: edges are finite)" },
  { "gr.histogram(a, { edges = { 1, 'x' } })",
    "bad argument #2 to 'histogram' (option 'edges': edge 2: number expected, got string)" },
  { "gr.histogram(a, { edges = a })", "bad argument #2 to 'histogram' (option 'edges': dtype f64 expected, got f32)" },
  { "gr.histogram(a, { edges = 5 })",
    "bad argument #2 to 'histogram' (option 'edges': table or gpureduce.array expected, got number)" },
  { "gr.histogram(a, { edges = { 1, 2 }, bins = 1 })",
    "bad argument #2 to 'histogram' (option 'edges': takes no 'bins', 'min', 'max' or 'modulo')" },
  { "gr.histogram(a, { bins = 4, modulo = true })",
    "bad argument #2 to 'histogram' (option 'modulo': integer dtype expected, got f32)" },
  { "gr.histogram(u, { bins = 4, modulo = true, min = 0 })",
    "bad argument #2 to 'histogram' (option 'modulo': takes no 'min' and 'max')" },
  { "gr.histogram(a, { bins = 100, min = 1, max = 1 + 2 ^ -51 })",
    "bad argument #2 to 'histogram' (100 bins from 1 to 1.0000000000000004 are narrower than the spacing of "
    .. "f64 numbers)" },
  { "gr.bincount(a)", "bad argument #1 to 'bincount' (integer dtype expected, got f32)" },
  { "gr.bincount(gr.array({ 1, -2 }, 'i32'))",
    "bad argument #1 to 'bincount' (elements of 0 or more expected, got -2)" },
  { "gr.bincount(u, { minlength = -1 })",
    "bad argument #2 to 'bincount' (option 'minlength': 0 to 2147483648 expected, got -1)" },

  -- weights, equal factors
  { "gr.histogram(a, { bins = 2, weights = b })",
    "bad argument #2 to 'histogram' (option 'weights': length 10 expected, got 9)" },
  { "gr.histogram(a, { bins = 2, weights = { 1 } })",
    "bad argument #2 to 'histogram' (option 'weights': gpureduce.array expected, got table)" },
  { "gr.histogram(a, { bins = 2, weights = released })",
    "bad argument #2 to 'histogram' (option 'weights': array has been released)" },
  { "gr.histogram(b:slice(1, 2), { bins = 2, weights = gr.array({ 1, nan }, 'f64') })",
    "bad argument #2 to 'histogram' (option 'weights': finite weights expected, got a NaN)" },
  { "gr.histogram(b:slice(1, 2), { bins = 2, weights = gr.array({ 1, -huge }, 'f16') })",
    "bad argument #2 to 'histogram' (option 'weights': finite weights expected, got an infinity)" },
  { "gr.histogram(a, { bins = 2, weights = a, kernel = 'global' })",
    "bad argument #2 to 'histogram' (option 'weights': takes no 'kernel')" },
  { "gr.bincount(u, { weights = gr.array({ huge }, 'f32') })",
    "bad argument #2 to 'bincount' (option 'weights': length 10 expected, got 1)" },
  { "gr.bincount(u:slice(1, 1), { weights = gr.array({ huge }, 'f32') })",
    "bad argument #2 to 'bincount' (option 'weights': finite weights expected, got an infinity)" },
  { "gr.histogram(a, { bins = 2, weight = a })",
    "bad argument #2 to 'histogram' (unknown option 'weight' (did you mean 'weights'?))" },
  { "gr.histogram(a, { bins = 2, log = 10 })",
    "bad argument #2 to 'histogram' (option 'log': boolean expected, got number)" },
  { "gr.histogram(a, { bins = 2, log = true, min = 0 })",
    "bad argument #2 to 'histogram' (option 'min': above 0 expected with 'log', got 0)" },
  { "gr.histogram(gr.array { 1, -2 }, { bins = 2, log = true })",
    "bad argument #2 to 'histogram' (option 'log': data above 0 or a 'min' expected, but the least element is -2)" },
  { "gr.histogram(a, { edges = { 1, 2 }, log = true })",
    "bad argument #2 to 'histogram' (option 'log': takes no 'edges')" },
  { "gr.histogram(u, { bins = 2, modulo = true, log = true })",
    "bad argument #2 to 'histogram' (option 'log': takes no 'modulo')" },
  { "gr.histogram(a, { bins = 2, density = 1 })",
    "bad argument #2 to 'histogram' (option 'density': boolean expected, got number)" },

  -- scan and rmsnorm
  { "gr.scan(a, 'mean')", "bad argument #2 to 'scan' (scan of sum, prod, min or max expected, got 'mean')" },
  { "gr.scan(a, 'sun')", "bad argument #2 to 'scan' (unknown operation 'sun' (did you mean 'sum'?))" },
  { "gr.scan(a, 'sum', { exclusiv = true })",
    "bad argument #3 to 'scan' (unknown option 'exclusiv' (did you mean 'exclusive'?))" },
  { "gr.scan(a, 'sum', { reverse = 1 })",
    "bad argument #3 to 'scan' (option 'reverse': boolean expected, got number)" },
  { "gr.scan(a, 'sum', { into = b })", "bad argument #3 to 'scan' (option 'into': f32[10] expected, got f32[9])" },
  { "gr.scan(u, 'sum', { into = u })", "bad argument #3 to 'scan' (option 'into': i64[10] expected, got u8[10])" },
  { "gr.scan(long:slice(1, 10), 'sum', { into = long:slice(2, 11) })",
    "bad argument #3 to 'scan' (option 'into': overlaps the input)" },
  { "gr.rmsnorm(u)", "bad argument #1 to 'rmsnorm' (float dtype expected, got u8)" },
  { "gr.rmsnorm(a, b)", "bad argument #2 to 'rmsnorm' (length 10 (of a row) expected, got 9)" },
  { "gr.rmsnorm(a, d, { rows = 1 })", "bad argument #2 to 'rmsnorm' (dtype f32 expected, got f64)" },
  { "gr.rmsnorm(a, nil, { rows = 4 })",
    "bad argument #3 to 'rmsnorm' (option 'rows': 4 rows do not divide length 10)" },
  { "gr.rmsnorm(a, nil, { eps = -1 })", "bad argument #3 to 'rmsnorm' (option 'eps': 0 or more expected, got -1)" },
  { "gr.rmsnorm(a, nil, { into = b })", "bad argument #3 to 'rmsnorm' (option 'into': f32[10] expected, got f32[9])" },

  -- softmax
  { "gr.softmax(u)", "bad argument #1 to 'softmax' (float dtype expected, got u8)" },
  { "gr.softmax(a, 2)", "bad argument #2 to 'softmax' (options table expected, got number)" },
  { "gr.softmax(a, { rows = 3 })", "bad argument #2 to 'softmax' (option 'rows': 3 rows do not divide length 10)" },
  { "gr.softmax(a, { row = 5 })", "bad argument #2 to 'softmax' (unknown option 'row' (did you mean 'rows'?))" },
  { "gr.softmax(a, { into = d })", "bad argument #2 to 'softmax' (option 'into': f32[10] expected, got f64[10])" },
  { "gr.softmax(long:slice(1, 10), { into = long:slice(2, 11) })",
    "bad argument #2 to 'softmax' (option 'into': overlaps the input)" },

  -- files, devices, care
  { "gr.load(5)", "bad argument #1 to 'load' (path expected, got number)" },
  { "gr.load()", "bad argument #1 to 'load' (path expected, got no value)" },
  { "gr.load('x.npy', 'f32')", "bad argument #2 to 'load' (no dtype expected: an NPY file has its own)" },
  { "gr.load('x', 'f23')", "bad argument #2 to 'load' (unknown dtype 'f23' (did you mean 'f32'?))" },
  { "gr.load('x', 'f32', { ofset = 1 })",
    "bad argument #3 to 'load' (unknown option 'ofset' (did you mean 'offset'?))" },
  { "gr.load('x', 'f32', { offset = -4 })",
    "bad argument #3 to 'load' (option 'offset': 0 or more bytes expected, got -4)" },
  { "gr.load('x', 'f32', { count = -1 })",
    "bad argument #3 to 'load' (option 'count': 0 or more elements expected, got -1)" },
  { "gr.load('README.md', 'f32', { map = true, offset = 2, count = 1 })",
    "bad argument #1 to 'load' (a mapping needs an offset that is a multiple of 4, got 2)" },
  { "gr.save(a)", "bad argument #2 to 'save' (path expected, got no value)" },
  { "gr.save(a, 'x.npy', { shape = { 3, 4 } })",
    "bad argument #3 to 'save' (option 'shape': product 10 expected, got 12)" },
  { "gr.save(a, 'x.raw', { shape = { 10 } })", "bad argument #3 to 'save' (unknown option 'shape')" },
  { "gr.use('gpu')", "bad argument #1 to 'use' (no device 'gpu' (there are: ", start = true },
  { "gr.use(1)", "bad argument #1 to 'use' (device name expected, got number)" },
  { "gr.threads(0)", "bad argument #1 to 'threads' (1 to 1024 threads expected, got 0)" },
  { "gr.gc({ buget = 1 })", "bad argument #1 to 'gc' (unknown option 'buget' (did you mean 'budget'?))" },
  { "gr.gc({ budget = -1 })", "bad argument #1 to 'gc' (option 'budget': 0 or more bytes expected, got -1)" },
}

-- "sum" for every public function with parameters, and for the methods of other objects.
local function described()
  local _, entries = dofile("docs/source.lua").load()
  local names = {}
  for _, entry in ipairs(entries) do
    if not entry.syntax and #entry.params > 0 then names[#names + 1] = entry.name end
  end
  return names
end

describe("every public function", function()
  it("has its errors' texts in a spec", function()
    local texts, missing = {}, {}
    for file in require("lfs").dir("spec") do
      if file:find("_spec%.lua$") then texts[#texts + 1] = S.read_file("spec/" .. file) end
    end
    local all = table.concat(texts)
    for _, name in ipairs(described()) do
      if not all:find(("bad argument #%%d to '%s' %%("):format(name)) then missing[#missing + 1] = name end
    end
    assert.equal("", table.concat(missing, " "))
  end)
end)

describe("bad input", function()
  local environment

  before_each(function()
    environment = {
      gr = gr, nan = S.model.nan, huge = math.huge,
      a = gr.array({ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, "f32"),
      b = gr.array({ 1, 2, 3, 4, 5, 6, 7, 8, 9 }, "f32"),
      d = gr.array({ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, "f64"),
      u = gr.array({ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, "u8"),
      long = gr.arange(1, 20),
      empty = gr.zeros(0),
      released = gr.zeros(10),
      odd = setmetatable({}, { __name = 5 }),
    }
    environment.released:release()
  end)

  for _, row in ipairs(rows) do
    it(row[1], function()
      local message = S.message(load_in(row[1], environment))
      if not message then error("no error was raised", 0) end
      message = message:gsub("%-nan", "nan") -- C libraries differ in the sign that they show
      if row.start then message = message:sub(1, #row[2]) end
      assert.equal(row[2], message)
    end)
  end

  it("changes nothing", function()
    local a, u, long = environment.a, environment.u, environment.long
    for _, row in ipairs(rows) do pcall(load_in(row[1], environment)) end
    S.same_all({ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, a, "a")
    S.same_all({ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, u, "u")
    assert.is_true(long:equal(gr.arange(1, 20)))
    assert.is_nil(io.open("x.npy"))
    assert.is_nil(io.open("x.raw"))
  end)

  it("names the line of the caller", function()
    local ok, message = pcall(load_in("gr.dot(a, b)", environment))
    assert.is_false(ok)
    assert.truthy(message:find("^[^\n]+:1: bad argument"))
  end)
end)
