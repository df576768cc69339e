// Package deepcopy copies records so that the copy shares no memory with the original.
package deepcopy

import (
	"reflect"
	"strings"
)

// Of returns a copy of a struct whose exported fields are texts, numbers, lists, pointers and
// structs, and the others numbers and booleans. Errors are shared. Of nil it returns nil.
func Of[T any](original *T) *T {
	if original == nil {
		return nil
	}
	duplicate := new(T)
	fill(reflect.ValueOf(duplicate).Elem(), reflect.ValueOf(original).Elem())
	return duplicate
}

// fill makes to, which is zero, a copy of from.
func fill(to, from reflect.Value) {
	if from.IsZero() {
		return
	}
	switch from.Kind() {
	case reflect.String:
		to.SetString(strings.Clone(from.String()))
	case reflect.Pointer:
		to.Set(reflect.New(from.Type().Elem()))
		fill(to.Elem(), from.Elem())
	case reflect.Slice:
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		if from.Type().Elem().Kind() == reflect.Uint8 {
			reflect.Copy(to, from)
			return
		}
		for i := range from.Len() {
			fill(to.Index(i), from.Index(i))
		}
	case reflect.Struct:
		to.Set(from)
		for i := range from.NumField() {
			if to.Type().Field(i).IsExported() {
				to.Field(i).SetZero()
				fill(to.Field(i), from.Field(i))
			}
		}
	default:
		to.Set(from)
	}
}
