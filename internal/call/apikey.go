package call

import "strings"

// IsAPIKey reports whether a user name, password or token counts as an API key, by the
// service's own rule: more than 20 characters that begin with "DC.".
func IsAPIKey(text string) bool { return len(text) > 20 && strings.EqualFold(text[:3], "DC.") }
