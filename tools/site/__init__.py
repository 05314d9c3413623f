"""The course as static pages that open from files: solutions, slides, recordings, documents, a search."""
