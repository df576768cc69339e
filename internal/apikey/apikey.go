// Package apikey tells API keys from other credentials.
package apikey

import "strings"

// Is reports whether a user name, password or token counts as an API key, by the
// service's own rule: more than 20 characters that begin with "DC.".
func Is(text string) bool { return len(text) > 20 && strings.EqualFold(text[:3], "DC.") }
