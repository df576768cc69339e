package names_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/datacite-go/datacite-go/datacitetest/internal/names"
)

// The first five are the examples of Rails' documentation.
func TestTitleised(t *testing.T) {
	for text, want := range map[string]string{
		"man from the boondocks": "Man From The Boondocks", "x-men: the last stand": "X Men: The Last Stand",
		"TheManWithoutAPast": "The Man Without A Past", "raiders_of_the_lost_ark": "Raiders Of The Lost Ark", "string_ending_with_id": "String Ending With",
		"Earth's crust": "Earth's Crust", "CoreTrustSeal": "Core Trust Seal", "ozone (O3)": "Ozone (O3)", "": "", "naïve étude": "Naïve étude",
	} {
		assert.Equal(t, want, names.Titleised(text))
	}
}
