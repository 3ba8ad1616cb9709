def read_file(name: str) -> str:
    """Reads a file."""
    with open(name, encoding="utf-8") as file:
        return file.read()
