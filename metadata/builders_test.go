package metadata_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/metadata"
)

// A program fills builders from a table with empty cells: they add nothing.
func TestBuilders_addNothingForEmptyValues(t *testing.T) {
	ada := metadata.Creator{Name: "Ada", NameType: metadata.NamePersonal, GivenName: "Ada"}
	for _, empty := range []string{"", " ", "\t\n", "\u00a0"} {
		assert.Equal(t, ada, metadata.Person(empty, "Ada"))
		assert.Equal(t, metadata.Creator{Name: "Ada", NameType: metadata.NamePersonal, FamilyName: "Ada"}, metadata.Person("Ada", empty))
		assert.Zero(t, metadata.Person(empty, empty))
		assert.Zero(t, metadata.Organization(empty))
		assert.Equal(t, ada, ada.ORCID(empty).ROR(empty).AffiliatedWith(empty, empty))
		assert.Zero(t, metadata.SPDX(empty))
		assert.Equal(t, metadata.List[metadata.Affiliation]{{Name: "Example University"}}, ada.AffiliatedWith("Example University", empty).Affiliation)
	}
	assert.Equal(t, ada, ada.ORCID("https://orcid.org/").ROR("https://ror.org/"), "an address without an identifier")
}

// Blanks around what a form was given do not become part of an identifier.
func TestBuilders_trimTheirValues(t *testing.T) {
	ada := metadata.Person(" Lovelace", "Ada ").ORCID(" 0000-0001-5727-2427 ").AffiliatedWith(" Example ", " https://ror.org/04wxnsj81\n")
	assert.Equal(t, metadata.Person("Lovelace", "Ada").ORCID("0000-0001-5727-2427").AffiliatedWith("Example", "04wxnsj81"), ada)
	assert.Equal(t, metadata.Organization("Example").ROR("04wxnsj81"), metadata.Organization(" Example ").ROR(" 04wxnsj81 "))
	assert.Equal(t, metadata.SPDX("CC0-1.0"), metadata.SPDX(" CC0-1.0"))
}

// An item of a list in which nothing is set is not stored without a finding.
func TestFindings_nameEmptyItemsOfLists(t *testing.T) {
	r := &metadata.Record{}
	var each func(v reflect.Value, path string)
	each = func(v reflect.Value, path string) {
		for field, list := range v.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if list.Kind() != reflect.Slice || name == "-" {
				continue
			}
			before := r.Findings()
			list.Set(reflect.Append(list, reflect.Zero(list.Type().Elem())))
			at := path + name
			assert.True(t, slices.ContainsFunc(r.Findings(), func(f datacite.Finding) bool { return !slices.Contains(before, f) }), at)
			if item := list.Index(0); item.Kind() == reflect.Struct {
				each(item, at+"[0].")
			}
			list.SetZero()
		}
	}
	each(reflect.ValueOf(r).Elem(), "")
}
