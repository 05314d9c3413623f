"""Still pictures of topics, logs and what Spark reads, each with its text."""
