"""From a lesson's text to notebooks: read, build, execute."""
