"""What a team's members said to their agents, as one library shared through their git host: records and refs.

Nothing here runs for people who have not joined. Outgoing records are checked like a share and signed with the person's
SSH key; incoming ones are ignored unless their signature is valid, and then attributed to one person.
"""
