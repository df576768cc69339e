package reconcile

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go/metadata"
)

// The service keeps a list in two forms, and each has items, or parts of them, that the other lacks.
// What is desired says a list in the words of one form: its items that are not changed stay in the other
// form as they are there.

// keepItems puts the items of the other form into a desired list, in place of those that one form has for them.
func keepItems(name string, desired, one, other *metadata.Record) {
	list, from, to := field(desired, name), field(one, name), field(other, name)
	if list.Kind() != reflect.Slice || list.Len() == 0 || sameJSON(list, to) {
		return
	}
	pairs, known := pairsOf(name, one, other), map[string][]int{}
	for j := range from.Len() {
		if _, paired := pairs[j]; paired {
			text := inJSON(from.Index(j))
			known[text] = append(known[text], j)
		}
	}
	kept := reflect.MakeSlice(list.Type(), list.Len(), list.Len())
	for i := range list.Len() {
		kept.Index(i).Set(list.Index(i))
		text := inJSON(list.Index(i))
		if places := known[text]; len(places) > 0 {
			kept.Index(i).Set(to.Index(pairs[places[0]]))
			known[text] = places[1:]
		}
	}
	list.Set(kept)
}

// unseenIn are the changes that remove items which the JSON does not show, since the list that is
// desired has none like them.
func (c *comparison) unseenIn(name string) (changes []metadata.Change) {
	if c.asXML == nil || field(c.asXML, name).Kind() != reflect.Slice || isEmpty(field(c.asXML, name)) {
		return nil
	}
	stored, shown := c.xml, map[int]bool{}
	for _, j := range pairsOf(name, &c.found.Record, stored) {
		shown[j] = true
	}
	desired := map[string]bool{}
	for i := range field(c.asXML, name).Len() {
		desired[inJSON(field(c.asXML, name).Index(i))] = true
	}
	for j := range field(stored, name).Len() {
		item := alone(name, stored, j)
		if shown[j] || desired[inJSON(field(stored, name).Index(j))] || c.desires(name, j, item) {
			continue
		}
		for _, change := range metadata.DiffXML(&metadata.Record{}, item) {
			change.Path = strings.Replace(change.Path, "[0]", fmt.Sprintf("[%d]", j), 1)
			changes = append(changes, change)
		}
	}
	return changes
}

// desires reports whether a list that is desired has an item near its place, in other spellings or without invisible
// characters.
func (c *comparison) desires(name string, place int, item *metadata.Record) bool {
	for i := max(0, place-reach); i < min(field(c.asXML, name).Len(), place+reach); i++ {
		if !slices.ContainsFunc(metadata.DiffXML(alone(name, c.asXML, i), item), func(change metadata.Change) bool {
			return change.Desired != visible(change.Found)
		}) {
			return true
		}
	}
	return false
}

func inJSON(v reflect.Value) string {
	data, err := json.Marshal(v.Interface())
	if err != nil {
		return fmt.Sprintf("%#v", v)
	}
	return string(data)
}

// reach is how far from each other the two forms of an item are looked for.
const reach = 20

// pairsOf finds the places of items in the other form, which has them in the same order.
func pairsOf(name string, one, other *metadata.Record) map[int]int {
	pairs, next := map[int]int{}, 0
	for i := range field(one, name).Len() {
		for j := next; j < min(field(other, name).Len(), next+reach); j++ {
			a, b := alone(name, one, i), alone(name, other, j)
			if len(metadata.Diff(a, b)) == 0 || len(metadata.Diff(b, a)) == 0 {
				pairs[i], next = j, j+1
				break
			}
		}
	}
	return pairs
}

// alone is a record with one item of a list.
func alone(name string, r *metadata.Record, i int) *metadata.Record {
	var one metadata.Record
	field(&one, name).Set(field(r, name).Slice(i, i+1))
	return &one
}
