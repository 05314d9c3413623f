"""What `threebrokers` and `make lab` do: the command line, JupyterLab, the folder of your own notebooks."""
