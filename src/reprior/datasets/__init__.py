"""Where tables come from: made, bundled, downloaded and verified, or read from a user's file."""
