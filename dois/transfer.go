package dois

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/doi"
	"github.com/datacite-go/datacite-go/internal/transport"
)

// TransferOptions are the optional settings of [Client.Transfer].
type TransferOptions struct {
	From string // account that the DOI must belong to; "" means any
}

const opTransfer = "dois.Transfer"

// Transfer moves a DOI to another repository account, such as "EXAMPLE.REPO", and changes nothing else: its
// state, URL and metadata stay. It needs the login of the member that the DOI's repository belongs to, or of the lead
// of its consortium; a repository's own login is [datacite.ErrForbidden]. The service accepts any repository as the
// new one, also of another member, whose login alone can move the DOI back.
//
// The prefix stays with the old account: the new one changes the DOI, but creates DOIs only under its own prefixes.
//
// If the DOI belongs to the account already, Transfer returns it and sends no write. Warnings of the result name
// attributes that changed during the transfer (code changed), which another write did. An unknown DOI or account is
// [datacite.ErrNotFound], and a DOI that does not belong to TransferOptions.From is [datacite.ErrConflict].
//
// Transfer sends GET and PUT /dois/{doi}, and GET again if the outcome of the PUT is unclear.
func (c *Client) Transfer(ctx context.Context, doiName, account string, opts *TransferOptions) (_ *Record, err error) {
	defer func() { err = c.core.Shown(err) }()
	account = strings.ToLower(strings.TrimSpace(account))
	if account == "" {
		return nil, datacite.Invalidf("account", datacite.CodeMissing,
			"is empty; give the repository account that the DOI moves to")
	}
	name, err := doi.API.Writable(doiName)
	if err != nil {
		return nil, err
	}
	body, _ := json.Marshal(map[string]any{"data": map[string]any{ // of texts
		"type": "dois", "attributes": map[string]string{"mode": "transfer"}, "relationships": clientLink(account),
	}})
	before, err := c.Get(ctx, name, nil)
	if err != nil || strings.EqualFold(before.Client, account) {
		return before, err
	}
	if from := cmp.Or(opts, &TransferOptions{}).From; from != "" && !strings.EqualFold(before.Client, from) {
		return nil, fmt.Errorf("%s: %w: %s belongs to %.100q, not to %.100q; nothing was changed", opTransfer,
			datacite.ErrConflict, name, before.Client, from)
	}
	after, err := c.write(ctx, name, body, transport.Request{
		Op: opTransfer, Method: "PUT", Path: "/dois/" + doi.API.Path(name), Query: (&GetOptions{}).query(),
	})
	if errors.Is(err, datacite.ErrUnclear) { // a repeated PUT may be refused since the first one has moved the DOI
		if now, failed := c.Get(ctx, name, nil); failed == nil && strings.EqualFold(now.Client, account) {
			after, err = now, nil
		}
	}
	switch {
	case err != nil:
		return nil, err
	case !strings.EqualFold(after.Client, account):
		return nil, fmt.Errorf("%s: %w: the service has left %s with %.100q", opTransfer, datacite.ErrConflict, name,
			after.Client)
	}
	after.Warnings = first(slices.Concat(after.Warnings, changed(before, after)))
	return after, nil
}

// clientLink is the member relationships of a write for a repository account.
func clientLink(id string) map[string]any {
	return map[string]any{"client": map[string]any{"data": map[string]string{"type": "clients", "id": id}}}
}

// transferred are attributes that a transfer changes, or that change without a write.
var transferred = strings.Fields(`updated client provider landingPage isActive references citations parts partOf versions versionOf
	referenceCount citationCount partCount partOfCount versionCount versionOfCount viewCount downloadCount
	viewsOverTime downloadsOverTime citationsOverTime`)

// changed finds the other attributes in which two versions of a record differ.
func changed(before, after *Record) (all []datacite.Finding) {
	var was, is map[string]any
	_, _ = json.Unmarshal(before.Raw, &was), json.Unmarshal(after.Raw, &is) // they were read before
	names := maps.Clone(was)
	maps.Copy(names, is)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !slices.Contains(transferred, name) && !reflect.DeepEqual(was[name], is[name]) {
			all = append(all, datacite.Finding{Path: name, Code: datacite.CodeChanged,
				Reason: "differs from the record before the transfer", Warning: true})
		}
	}
	return all
}
