"""Spark's settings that hold wherever its driver runs: beside a notebook, or as a server."""

HOST = "127.0.0.1"
MARK = "-Dthreebrokers.spark="  # of a process's command line, with the home
# Java's thorough second compiler costs more in a lab's few minutes than it gives: 12 s against 4 s of
# processor time to start.
COMPILER = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
SETTINGS = {
    # Nobody but this machine may reach the driver.
    "spark.driver.host": HOST,
    "spark.driver.bindAddress": HOST,
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": " ".join(COMPILER),
    # 200, the default, costs seconds for each aggregation of data as small as ours.
    "spark.sql.shuffle.partitions": "2",
    # The default is the machine's own zone: every learner would see other hours.
    "spark.sql.session.timeZone": "UTC",
    # A producer that was kept (10 minutes is the default) goes on counting its batches when a lab makes
    # its topic afresh; in 1 of about 200 writes the new topic got them out of order, and refused the
    # rest until the producer gave up after 2 minutes.
    "spark.kafka.producer.cache.timeout": "1ms",
    "spark.kafka.producer.cache.evictorThreadRunInterval": "100ms",
    "spark.cores.max": "2",
}
# The server of Spark Connect is a driver for as long as it runs: without this it would keep both workers for
# itself, and a session of a notebook would wait for ever.
SHARING = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.executorIdleTimeout": "5s",
    "spark.dynamicAllocation.cachedExecutorIdleTimeout": "60s",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.timeout": "5s",
}
