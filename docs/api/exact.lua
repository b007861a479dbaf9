return {
  title = "Exact sums",
  text = "Sums that are rounded once, whatever the order.",
  entries = {
  },
}
