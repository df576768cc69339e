package deepcopy_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/metadata"
)

// set gives every field a value that is not zero.
func set(t *testing.T, v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(path)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint8:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(7)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		set(t, v.Elem(), path)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 3))
		for i := range v.Len() {
			set(t, v.Index(i), fmt.Sprint(path, i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				set(t, v.Field(i), path+"."+f.Name)
			}
		}
	case reflect.Interface:
		v.Set(reflect.ValueOf(errors.New(path))) // shared
	default:
		require.Fail(t, "a field of a new kind: does Clone copy it?", "%s is a %s", path, v.Type())
	}
}

// apart requires two values to share no memory.
func apart(t *testing.T, a, b reflect.Value, path string) {
	switch a.Kind() {
	case reflect.String, reflect.Slice, reflect.Pointer:
		assert.NotEqual(t, a.Pointer(), b.Pointer(), "%s is shared", path)
	}
	switch a.Kind() {
	case reflect.Pointer:
		apart(t, a.Elem(), b.Elem(), path)
	case reflect.Slice:
		assert.Equal(t, b.Len(), b.Cap(), "%s has room for nothing else", path)
		for i := range a.Len() {
			apart(t, a.Index(i), b.Index(i), fmt.Sprint(path, i))
		}
	case reflect.Struct:
		for i := range a.NumField() {
			apart(t, a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name)
		}
	}
}

// Every field of a record is copied, and none is shared.
func TestClonesShareNothing(t *testing.T) {
	var record metadata.Record
	set(t, reflect.ValueOf(&record).Elem(), "Record")
	clone := record.Clone()
	assert.Equal(t, &record, clone)
	apart(t, reflect.ValueOf(&record), reflect.ValueOf(clone), "Record")

	var found dois.Record
	set(t, reflect.ValueOf(&found).Elem(), "Record")
	copied := found.Clone()
	assert.Equal(t, &found, copied)
	apart(t, reflect.ValueOf(&found), reflect.ValueOf(copied), "Record")

	assert.Equal(t, &metadata.Record{Sizes: []string{}}, (&metadata.Record{Sizes: []string{}}).Clone(),
		"an empty list clears a property, and nil does not")
	assert.Nil(t, (*metadata.Record)(nil).Clone())
	assert.Nil(t, (*dois.Record)(nil).Clone())
}
