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
Histograms and series in the terminal and as SVG: axes with round ticks; series that differ in colour (for the
colour-blind too), dashes and marks and are named, so that they can be read in print and without colour. Pictures follow
the viewer's light or dark setting, say in `<title>` and `<desc>` what they show, and take any text: all of it is
escaped.]],
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
      name = "svg",
      text = "A chart: lines, steps, points and histograms over the same axes.",
      params = { { "options", "options", "one or more of `lines`, `steps`, `points`, `histograms`, "
        .. "and how to draw them" } },
      options = join({
        { "lines", "table?", "a list of arrays or of tables `{ name =, x =, y =, error = }`; x and y are arrays or "
          .. "tables of numbers (x: 1, 2, 3, ...). Few points (60) show as marks; what is not finite leaves a gap. "
          .. "`error` (a number, or one for each y) or `low =` and `high =` (the ends themselves) are error bars, a "
          .. "pale band where they are dense" },
        { "steps", "table?", "the same, each y held until the next x" },
        { "points", "table?", "the same without lines: a scatter plot; of many thousands the density shows" },
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
      }, size),
      returns = { { "boolean|string|nil", "true when written; the text without a path; nil when the system refuses" },
        { "string?", "after nil the message" }, { "integer?", "after nil the system's error number" } },
      shapes = "Series of any length: a long one is reduced to the least, the mean and the greatest of each column of "
        .. "pixels, an array without x where it is. Where those lie apart, "
        .. "a pale band shows the extremes and a line the means.",
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
print(text:match("<title>.-</title>"))]],
      output = "place (m)\n<title>Measured</title>",
    },
    {
      name = "plot",
      text = "A series as lines of text: a line of dots (Braille, or `' . :` in ASCII) with ticks.",
      params = { { "y", "array|number[]", "the series" }, { "options", "options?", "" } },
      options = {
        { "x", "array|number[]?", "where each y lies", default = "1, 2, 3, ..." },
        { "width", "integer?", "the longest line, 10 or more", default = columns },
        { "height", "integer?", "lines of dots; two or three more tell the ticks", default = "16" },
        { "xlog", "boolean|number?", "an axis of ratios, in powers of 10 (true) or 2", default = "false" },
        { "ylog", "boolean|number?", "the same for y", default = "false" },
        { "ymin", "number?", "where the axis begins", default = "a round number" },
        { "ymax", "number?", "where it ends", default = "a round number" },
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
