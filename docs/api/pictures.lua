local picture = { { "title", "string?", "above the picture" }, { "xlabel", "string?", "below the axis" },
  { "xunit", "string?", "behind the label, in brackets" }, { "ylabel", "string?", "beside the axis" } }
local size = { { "width", "number?", "in pixels, 100 to 10000", default = "720" },
  { "height", "number?", "in pixels, 100 to 10000", default = "440" },
  { "theme", "string?", '`"light"`, `"dark"` or `"auto"`: as the viewer is set', default = '`"auto"`' } }
local ascii = { "ascii", "boolean?", "draw without Unicode",
  default = "true on a dumb terminal, and where LC_ALL, LC_CTYPE or LANG (the first that is set) names no UTF-8" }
local columns = "the variable COLUMNS, the terminal's width, or 80"

local function join(...)
  local rows = {}
  for _, list in ipairs { ... } do
    for _, row in ipairs(list) do rows[#rows + 1] = row end
  end
  return rows
end

return {
  title = "Pictures",
  text = [[
Histograms, series and heat maps in the terminal and as SVG: axes with round ticks; series that differ in colour (for
the colour-blind too), dashes and marks and are named, so that they can be read in print and without colour. The colours
of heat maps are as even as their numbers, for the colour-blind too, and lighter or darker all the way, with a scale
that has ticks; what is no number, and cells without a pair, have none. Pictures follow the viewer's light or dark
setting, say in `<title>` and `<desc>` what they show, and take any text: all of it is escaped.]],
  entries = {
    {
      name = "plot", of = "histogram",
      text = "The histogram as text, one bar a line. `print(h)` does the same without options. Edges have as many "
        .. "digits as place them well within their bins; when those do not fit, "
        .. "the last line says what is to be added to all.",
      params = { { "options", "options?", "" } },
      options = {
        { "width", "integer?", "the longest line, 10 or more", default = columns },
        { "height", "integer?", "the most bars: more bins are merged with their neighbours", default = "32" },
        { "log", "boolean?", "bars as long as log(1 + count), so that rare values show", default = "false" },
        { "density", "boolean?", "show counts / width / total instead of counts",
          default = "whether `h.density` is there" },
        ascii,
      },
      returns = { { "string", "lines without a newline at the end" } },
      units = "Width in columns, height in lines.",
      errors = "An unknown option; a width below 10, a height below 1.",
      cost = "O(bins) on the host.",
      waits = "Waits for the counts and copies them down.",
      example = [[
local h = gr.histogram(gr.array { 1, 1, 1, 1, 2, 2, 3, 9 }, { edges = { 0, 1.5, 2.5, 3.5 } })
print(h:plot { width = 25, ascii = true })]],
      output = "  0 |################## 4\n1.5 |######### 2\n2.5 |##### 1\n3.5\n"
        .. "above 1, bars: counts,\nbins differ in width",
    },
    {
      name = "svg", of = "histogram",
      text = "The histogram as a picture: bars between their edges, as wide as the bins are. Heights are counts; where "
        .. "bins differ in width (on an axis of ratios: in ratio), counts / width, so that a bar's area is its count.",
      params = { { "path", "string?", "the file to write", default = "none: the text is returned" },
        { "options", "options?", "" } },
      options = join(picture, size, {
        { "log", "boolean?", "counts on an axis of ratios", default = "false" },
        { "xlog", "boolean|number?", "edges on an axis of ratios, in powers of 10 (true) or 2", default = "false" },
        { "density", "boolean?", "true: heights are counts / width / total; false: counts, whatever the widths",
          default = "true where `h.density` is there" },
      }),
      returns = { { "boolean|string|nil", "true when written; the text without a path; nil when the system refuses" },
        { "string?", "after nil the message" }, { "integer?", "after nil the system's error number" } },
      errors = "An unknown option or one of another type; what the system refuses returns nil, message, code.",
      cost = "O(bins) on the host.",
      waits = "Waits for the counts and copies them down.",
      example = [[
local h = gr.histogram(gr.randn(1e4), { bins = 30, min = -3, max = 3 })
local path = os.tmpname()
print(h:svg(path, { title = "Noise", xlabel = "voltage", xunit = "mV" }))
os.remove(path)
print(h:svg():sub(1, 4))]],
      output = "true\n<svg",
    },
    {
      name = "plot", of = "histogram2d",
      text = "The cells as text, x to the right and y upwards: half blocks in colours where the output is a terminal "
        .. "that has them, else shades. `print(h)` does the same without options. More cells than characters are "
        .. "merged: each shows their mean.",
      params = { { "options", "options?", "" } },
      options = {
        { "width", "integer?", "the longest line, 10 or more", default = columns },
        { "height", "integer?", "lines of cells; a few more tell the ticks and the scale", default = "20" },
        { "log", "boolean|number?", "shades by the logarithm of the count", default = "false" },
        { "density", "boolean?", "true: counts / area / total; false: counts, whatever the sizes of bins",
          default = "true where `h.density` is there; else counts, or counts / area where bins differ in size" },
        { "xlog", "boolean|number?", "an axis of ratios, in powers of 10 (true) or 2", default = "false" },
        { "ylog", "boolean|number?", "the same for y", default = "false" },
        { "colour", "boolean?", "whether to set colours, of 24 bits where COLORTERM says `truecolor`, else of 256",
          default = "true in a terminal with UTF-8, unless NO_COLOR is set or TERM is `dumb`" },
        ascii,
      },
      returns = { { "string", "lines without a newline at the end" } },
      units = "Width in columns, height in lines.",
      errors = "An unknown option; a width below 10, a height below 1.",
      cost = "O(cells), where they are; on the host only what is drawn.",
      waits = "Waits for the counts and copies down what is drawn.",
      example = [[
local x, y = gr.array { 1, 3, 3, 3, 3 }, gr.array { 1, 1, 3, 3, 3 }
local h = gr.histogram2d(x, y, { bins = 2, range = { { 0, 4 }, { 0, 4 } } })
print(h:plot { width = 14, height = 4, ascii = true })]],
      output = table.concat({
        "4 |     @@@@@",
        "  |     @@@@@",
        "2 |==========",
        "0 |==========",
        "  ++----+---+",
        "   0    2   4",
        "count:",
        "0 .:-=+*#%@ 3",
      }, "\n"),
    },
    {
      name = "svg", of = "histogram2d",
      text = "The cells as a heat map, x to the right and y upwards; where no pair is, nothing is drawn. Of more bins "
        .. "than the picture has room for, two pixels for each, or 600 each way, several make a cell, which shows "
        .. "their mean.",
      params = { { "path", "string?", "the file to write", default = "none: the text is returned" },
        { "options", "options?", "" } },
      options = join(picture, {
        { "yunit", "string?", "behind the label, in brackets" },
        { "zlabel", "string?", "beside the scale of colours", default = "what it shows: `count`, `weight`, `density`" },
        { "zunit", "string?", "behind that, in brackets" },
        { "log", "boolean|number?", "colours by the logarithm of the count, in powers of 10 (true) or 2",
          default = "false" },
        { "zmin", "number?", "where the scale begins", default = "0 for counts; with `log` the least" },
        { "zmax", "number?", "where it ends", default = "the greatest" },
        { "xlog", "boolean|number?", "an axis of ratios, in powers of 10 (true) or 2", default = "false" },
        { "ylog", "boolean|number?", "the same for y", default = "false" },
        { "density", "boolean?", "true: counts / area / total; false: counts, whatever the sizes of bins",
          default = "true where `h.density` is there; else counts, or counts / area where bins differ in size" },
      }, size),
      returns = { { "boolean|string|nil", "true when written; the text without a path; nil when the system refuses" },
        { "string?", "after nil the message" }, { "integer?", "after nil the system's error number" } },
      errors = "An unknown option or one of another type; what the system refuses returns nil, message, code.",
      cost = "O(cells), where they are; on the host only what is drawn.",
      waits = "Waits for the counts and copies down what is drawn.",
      example = [[
local x = gr.randn(1e5)
local h = gr.histogram2d(x, x * 0.5 + gr.randn(1e5), { bins = 1000 })
local text = h:svg(nil, { title = "A million bins", log = true })
print(text:match("each cell is the mean of [%dx ]+"), #text < 1e6)]],
      output = "each cell is the mean of 4 x 6\ttrue",
    },
    {
      name = "svg",
      text = "A chart: lines, steps, points and histograms over the same axes, and a heat map below them.",
      params = { { "options", "options", "one or more of `lines`, `steps`, `points`, `histograms`, `heat`, "
        .. "and how to draw them" } },
      options = join({
        { "lines", "table?", "a list of arrays or of tables `{ name =, x =, y =, error = }`; x and y are arrays or "
          .. "tables of numbers (x: 1, 2, 3, ...). Few points (60) show as marks; what is not finite leaves a gap. "
          .. "`error` (a number, or one for each y) or `low =` and `high =` (the ends themselves) are error bars, a "
          .. "pale band where they are dense" },
        { "steps", "table?", "the same, each y held until the next x" },
        { "points", "table?", "the same without lines: a scatter plot; of many thousands the density shows. More than "
          .. "100000 without error bars are counted in cells where they are, by `histogram2d`, and a single such "
          .. "series becomes a heat map, with `zlog` unless that is false" },
        { "heat", "array|histogram2d|table|boolean?", "a heat map: a matrix, drawn as it is printed, row 1 at the top "
          .. "(a transposed one is copied first); or `{ values =, x =, y = }`, a matrix and where its columns and rows "
          .. "lie, each two ends (the outer edges of the first and the last) or all edges: such axes go to the right "
          .. "and upwards; or a `histogram2d`. "
          .. "`false`: none of `points` either, however many, whose cells are then shades of their own colour" },
        { "histograms", "table?", "a list of histograms or of tables `{ name =, histogram = }`, over each other" },
        { "density", "boolean?", "for `histograms`: as in `h:svg`" },
        { "ceiling", "number|table?", "a limit drawn across: y, or `{ y =, name = }`, or a list of those" },
        { "path", "string?", "the file to write", default = "none: the text is returned" },
      }, picture, {
        { "yunit", "string?", "behind the label, in brackets" },
        { "xlog", "boolean|number?", "an axis of ratios, in powers of 10 (true) or 2", default = "false" },
        { "ylog", "boolean|number?", "the same for y", default = "false" },
        { "xmin", "number?", "where the axis begins", default = "the data's least" },
        { "xmax", "number?", "where it ends", default = "the data's greatest" },
        { "ymin", "number?", "the same for y", default = "a round number" },
        { "ymax", "number?", "the same for y", default = "a round number" },
        { "zlabel", "string?", "beside the scale of `heat`" },
        { "zunit", "string?", "behind that, in brackets" },
        { "zlog", "boolean|number?", "colours by the logarithm of the number, in powers of 10 (true) or 2",
          default = "false" },
        { "zmin", "number?", "where the scale begins", default = "the least; for counts 0" },
        { "zmax", "number?", "where it ends", default = "the greatest" },
      }, size),
      returns = { { "boolean|string|nil", "true when written; the text without a path; nil when the system refuses" },
        { "string?", "after nil the message" }, { "integer?", "after nil the system's error number" } },
      shapes = "Series of any length: a long one is reduced to the least, the mean and the greatest of each column of "
        .. "pixels, an array without x where it is. Where those lie apart, "
        .. "a pale band shows the extremes and a line the means. A matrix of any size: cells are two pixels wide and "
        .. "high or more, 600 x 600 of them at most, and show the mean of what is finite in "
        .. "them.",
      errors = "Nothing to draw; a series without y, or with x of another length; an unknown option or field; limits "
        .. "that no axis can have; a table whose metatable has `__index` (tables are read raw). What the system "
        .. "refuses returns nil, message, code.",
      cost = "O(n) for each series; on the host only what is drawn, and series that have x.",
      waits = "Waits for the data of each series and copies down what is drawn.",
      example = [[
local walk = gr.randn(1e5):scan()
local text = gr.svg { lines = { { name = "a walk", y = walk } }, xlabel = "step", ylabel = "place", yunit = "m" }
print(text:match("<text[^>]*>(place[^<]*)</text>"))
text = gr.svg { points = { { x = { 1, 2, 4 }, y = { 1, 4, 2 }, error = 0.5 } }, title = "Measured" }
print(text:match("<title>.-</title>"))
text = gr.svg { heat = { values = gr.arange(1, 6):matrix(2), x = { 0, 3 }, y = { 0, 1 } }, zlabel = "depth" }
print(text:match("Heat map: [^<]*"))
print(gr.svg({ points = { { x = gr.randn(1e6), y = gr.randn(1e6) } } }):match("<desc>.*(Heat map: %d+ x %d+ cells)"))]],
      output = "place (m)\n<title>Measured</title>\nHeat map: 3 x 2 cells, depth from 1 to 6.\n"
        .. "Heat map: 285 x 170 cells",
    },
    {
      name = "plot",
      text = "A series as lines of text: a line of dots (Braille, or `' . :` in ASCII) with ticks. A matrix is "
        .. "drawn as a heat map, as `h:plot` of a `histogram2d` draws one, row 1 at the top (a "
        .. "transposed one is copied first); its options are `width`, `height`, `ascii`, and these two.",
      params = { { "y", "array|number[]", "the series, or a matrix" }, { "options", "options?", "" } },
      options = {
        { "x", "array|number[]?", "where each y lies", default = "1, 2, 3, ..." },
        { "width", "integer?", "the longest line, 10 or more", default = columns },
        { "height", "integer?", "lines of dots; two or three more tell the ticks", default = "16" },
        { "xlog", "boolean|number?", "an axis of ratios, in powers of 10 (true) or 2", default = "false" },
        { "ylog", "boolean|number?", "the same for y", default = "false" },
        { "ymin", "number?", "where the axis begins", default = "a round number" },
        { "ymax", "number?", "where it ends", default = "a round number" },
        { "log", "boolean|number?", "of a matrix: shades by the logarithm", default = "false" },
        { "colour", "boolean?", "of a matrix: whether to set colours", default = "as in `h:plot`" },
        ascii,
      },
      returns = { { "string", "lines without a newline at the end" } },
      units = "Width in columns, height in lines.",
      shapes = "Any length: a long array without x is reduced where it is.",
      errors = "What is no series; an unknown option; a width below 10, a height below 1; "
        .. "limits that no axis can have.",
      cost = "O(n); on the host only what is drawn, and series that have x.",
      waits = "Waits for the data and copies down what is drawn.",
      example = [[print(gr.plot({ 1, 2, 3, 4, 3, 2, 1.1 }, { width = 24, height = 5, ascii = true }))]],
      output = table.concat({
        "4 |       ..:':..",
        "  |    ..:'     ':..",
        "2 |  .:'           ':..",
        "  |:''                ':",
        "0 |",
        "  +---+------+------+---",
        "      2      4      6",
      }, "\n"),
    },
  },
}
