"""What Newton's and interior point methods share: the Newton equations."""
