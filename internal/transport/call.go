package transport

import (
	"cmp"
	"context"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/call"
)

// MaxAttempts is how often a request of a call is sent at most.
func (c *Client) MaxAttempts(ctx context.Context) int {
	return cmp.Or(call.SettingsOf(ctx).MaxAttempts, c.maxAttempts)
}

// checkCall refuses the settings of a call that no client could have.
func checkCall(ctx context.Context) error {
	s := call.SettingsOf(ctx)
	var faults []datacite.Finding
	if s.MaxAttempts < 0 {
		faults = append(faults, negative("CallOptions.MaxAttempts"))
	}
	if s.Timeout < 0 {
		faults = append(faults, negative("CallOptions.Timeout"))
	}
	return datacite.Invalid(faults...)
}

func negative(path string) datacite.Finding {
	return datacite.Finding{Path: path, Code: datacite.CodeLimit, Reason: "is negative"}
}
