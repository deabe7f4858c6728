"""What a person sees: plain text for a terminal, Markdown for a hover. Untrusted text passes `text.untrusted` first."""
