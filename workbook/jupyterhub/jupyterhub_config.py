"""A room on one server: what the course needs of a JupyterHub. Who may log in is for you to say."""

c = get_config()  # noqa: F821 - given by JupyterHub, which runs this file
c.Spawner.cmd = ["/opt/threebrokers/start-learner"]
c.Spawner.default_url = "/lab/tree/work/00_start_here.ipynb"
c.Spawner.start_timeout = 120
# Kept by spawners that can keep limits (SystemdSpawner, DockerSpawner): they hold for the brokers, too.
c.Spawner.mem_limit = "3G"
c.Spawner.cpu_limit = 2.0
