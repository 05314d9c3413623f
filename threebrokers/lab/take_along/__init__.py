"""Programs that a reader takes to work: plain confluent-kafka, nothing of this course."""
