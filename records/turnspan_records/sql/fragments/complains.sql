-- Whether a user's message says that what was done before is not what they wanted. In English.
match(user_message, '(?i)(^\\W*(no|nope|wrong|stop|undo|revert|not)\\b|\\b(don.?t|do not|didn.?t|doesn.?t|isn.?t|not what|instead of|wrong|incorrect|still (broken|fails|failing|not)|i (said|told|asked)|again you|you (forgot|missed|broke)|undo|revert|as i said|should (not|have))\\b)')
