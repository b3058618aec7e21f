"""Share links: made, opened, listed and revoked; and who visits a run by one."""
