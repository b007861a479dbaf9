local picture = { { "title", "string?", "above the picture" }, { "xlabel", "string?", "below the axis" },
  { "xunit", "string?", "behind the label, in brackets" }, { "ylabel", "string?", "beside the axis" } }
local size = { { "width", "number?", "in pixels, 100 to 10000", default = "720" },
  { "height", "number?", "in pixels, 100 to 10000", default = "440" } }

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
Histograms in the terminal, and histograms, scans and series as SVG: axes with round ticks, lines that differ in dashes
and marks and are named beside their ends, so that they can be read in print and without colour.]],
  entries = {
    {
      name = "plot", of = "histogram",
      text = "The histogram as text, one bar a line. `print(h)` does the same without options.",
      params = { { "options", "options?", "" } },
      options = {
        { "width", "integer?", "the longest line, 24 or more", default = "the variable COLUMNS, the terminal's width, or 80" },
        { "height", "integer?", "the most bars: more bins are merged with their neighbours", default = "32" },
        { "log", "boolean?", "bars as long as log(1 + count), so that rare values show", default = "false" },
        { "ascii", "boolean?", "draw without Unicode blocks", default = "true on a dumb terminal" },
      },
      returns = { { "string", "lines without a newline at the end" } },
      units = "Width in columns, height in lines.",
      errors = "An unknown option; a width below 24, a height below 1.",
      cost = "O(bins) on the host.",
      waits = "Waits for the counts and copies them down.",
      example = [[
local h = gr.histogram(gr.array { 1, 1, 1, 1, 2, 2, 3, 9 }, { edges = { 0, 1.5, 2.5, 3.5 } })
print(h:plot { width = 25, ascii = true })]],
      output = "  0 |################## 4\n1.5 |######### 2\n2.5 |##### 1\n3.5\nabove 1",
    },
    {
      name = "svg", of = "histogram",
      text = "The histogram as a picture: bars between their edges, as wide as the bins are.",
      params = { { "path", "string?", "the file to write", default = "none: the text is returned" },
        { "options", "options?", "" } },
      options = join(picture, size, {
        { "log", "boolean?", "counts on an axis of ratios", default = "false" },
        { "xlog", "boolean|number?", "edges on an axis of ratios, in powers of 10 (true) or 2", default = "false" },
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
      text = "A chart of one or more lines: series, scans, measurements.",
      params = { { "options", "options", "`lines`, and how to draw them" } },
      options = join({
        { "lines", "table", "a list of arrays or of tables `{ name =, x =, y = }`; x and y are arrays or tables of numbers "
          .. "(x: 1, 2, 3, ...). Lines of 60 points or fewer show them as marks; what is not finite leaves a gap" },
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
      shapes = "Arrays of any length: a long one without x is reduced to the least and greatest of each column of pixels, "
        .. "where it is.",
      errors = "No `lines`; a line without y, or with x of another length; an unknown option; limits that no axis can have. "
        .. "What the system refuses returns nil, message, code.",
      cost = "O(n) for each line; on the host only what is drawn.",
      waits = "Waits for the data of each line and copies down what is drawn.",
      example = [[
local walk = gr.randn(1e5):scan()
local text = gr.svg { lines = { { name = "a walk", y = walk } }, xlabel = "step", ylabel = "place", yunit = "m" }
print(text:match("<text[^>]*>(place[^<]*)</text>"))]],
      output = "place (m)",
    },
  },
}
