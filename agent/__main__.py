"""`python -m agent` is `agentctl`."""

from agent.cli.main import main

if __name__ == "__main__":
    main()
