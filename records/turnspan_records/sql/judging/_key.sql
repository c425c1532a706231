-- A turn by one text: the length keeps project and id apart, whatever characters they have.
concat(toString(length(project)), ':', project, turn_id)
