return {
  title = "Element by element",
  text = "Operations that give one element for each element.",
  entries = {
  },
}
