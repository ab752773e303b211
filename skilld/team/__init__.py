"""What a team's people said to their agents, as one library through the git host that they have: records and refs.

Nothing here runs for who has not joined. What leaves is checked as a share is, and signed with the person's SSH key;
what comes in is nobody's word until its signature holds, and then one person's.
"""
