package sandbox

// missing names the first mandatory property that a record lacks, "" if it has
// them all.
func missing(o object) string {
	for _, name := range []string{"creators", "titles"} {
		if items, ok := o[name].([]any); !ok || len(items) == 0 {
			return name
		}
	}
	publisher := o["publisher"]
	if p, ok := publisher.(object); ok {
		publisher = p["name"]
	}
	types, _ := o["types"].(object)
	switch {
	case text(publisher) == "":
		return "publisher"
	case o["publicationYear"] == nil:
		return "publicationYear"
	case text(types["resourceTypeGeneral"]) == "":
		return "types"
	}
	return ""
}
