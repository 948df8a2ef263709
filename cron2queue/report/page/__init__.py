"""The parts of the HTML report: what the page says (model) and where its drawings have their points (timelines)."""
