"""What a team's members said to their agents, as one library shared through their git host: records and refs.

Nothing here runs for who has not joined. What leaves is checked as a share is, and signed with the person's SSH key;
what comes in is nobody's word until its signature holds, and then one person's.
"""
