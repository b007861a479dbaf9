return {
  title = "Asking for results",
  text = "Results later, many at once, or left on the device.",
  entries = {
  },
}
