package table

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/datacite-go/datacite-go/metadata"
)

// Complete applies a row to an existing record: it returns the existing record with the
// properties in the cells of the row. Properties of empty cells and those without a column,
// such as contributors, stay. So do parts that a cell does not give, such as the ORCID of a
// creator whom the row only names, or the free text of a type. A list in a cell replaces
// the whole list; title and abstract replace only one of several titles and descriptions.
//
// Comparing the existing record with the result, by [metadata.Diff], shows exactly what
// the table changes.
func Complete(row, existing *metadata.Record) *metadata.Record {
	said, whole := members(row), members(existing)
	if said == nil || whole == nil {
		return row // a record is always JSON
	}
	for _, c := range columns {
		if _, ok := said[c.member]; c.member == "" || !ok || c.write(&Row{Record: row}) == "" {
			continue
		}
		whole[c.member] = completed(c.member, said[c.member], whole[c.member])
	}
	data, err := json.Marshal(whole)
	complete := &metadata.Record{}
	if err == nil {
		err = json.Unmarshal(data, complete)
	}
	if err != nil {
		return row
	}
	return complete
}

// completed is the value of one member.
func completed(member string, said, existing any) any {
	items, isList := said.([]any)
	if !isList {
		return known(member, said, []any{existing}, func(item any) any { return item })
	}
	found, _ := existing.([]any)
	within := func(item any) any { return []any{item} }
	if member == "titles" || member == "descriptions" {
		return oneOf(member, items[0], found)
	}
	const reach = 100 // bounds the time for lists of thousands
	var all []any
	for i, item := range items {
		near := found[min(i, len(found)):min(i+1, len(found))]
		if len(items) < reach && len(found) < reach {
			near = slices.Concat(near, found)
		}
		all = append(all, known(member, item, near, within))
	}
	return all
}

// oneOf replaces the existing title or abstract.
func oneOf(member string, item any, found []any) []any {
	at := 0
	if member == "descriptions" {
		at = slices.IndexFunc(found, func(d any) bool {
			description, _ := d.(map[string]any)
			return description["descriptionType"] == string(metadata.DescriptionAbstract)
		})
	}
	if at < 0 || at >= len(found) {
		return append(slices.Clone(found), item)
	}
	all := slices.Clone(found)
	all[at] = known(member, item, found[at:at+1], func(item any) any { return []any{item} })
	return all
}

// known returns the first existing item with all members of an item. Without one it returns
// the item, completed by the existing item of the same name.
func known(member string, item any, existing []any, within func(any) any) any {
	record := func(item any) *metadata.Record {
		r := &metadata.Record{}
		data, err := json.Marshal(map[string]any{member: within(item)})
		if err != nil || json.Unmarshal(data, r) != nil {
			return nil
		}
		return r
	}
	for _, e := range existing {
		if e == nil {
			continue
		}
		lacking := func(c metadata.Change) bool { return c.Wanted != "" }
		if !slices.ContainsFunc(metadata.Diff(record(item), record(e)), lacking) {
			return e
		}
	}
	said, _ := item.(map[string]any)
	for _, e := range existing {
		if e, ok := e.(map[string]any); ok && said["name"] != nil && e["name"] == said["name"] {
			all := maps.Clone(e)
			maps.Copy(all, said)
			return all
		}
	}
	return item
}
