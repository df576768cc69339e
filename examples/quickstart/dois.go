package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/datacite-go/datacite-go/dois"
	"github.com/datacite-go/datacite-go/mds"
	"github.com/datacite-go/datacite-go/metadata"
	"github.com/datacite-go/datacite-go/query"
	"github.com/datacite-go/datacite-go/reports"
)

// A demo takes the steps of the quick start.
type demo struct {
	settings
	out     io.Writer
	log     *requestLog
	mds     *mds.Client
	dois    *dois.Client
	reports *reports.Client
	run     string // makes the names of this run differ from those of others
}

func (d *demo) say(format string, args ...any) {
	fmt.Fprintf(d.out, "  "+format+"\n", args...)
}

func (d *demo) name(suffix string) string {
	return fmt.Sprintf("%s/quickstart-%s-%s", d.prefix, d.run, suffix)
}

// record is a small complete record; the title makes it findable.
func (d *demo) record(title string) (mds.Document, error) {
	return mds.NewDocument(&metadata.Record{
		Creators:        []metadata.Creator{{Name: "Lovelace, Ada", GivenName: "Ada", FamilyName: "Lovelace"}},
		Titles:          []metadata.Title{{Title: title + ", run " + d.run}},
		Publisher:       metadata.Publisher{Name: "Quick Start Repository"},
		PublicationYear: metadata.YearOf(time.Now().Year()),
		Types:           metadata.Types{ResourceTypeGeneral: metadata.ResourceTypeDataset, ResourceType: "Table"},
	})
}

// register shows the requests for the first DOI, and says how many the others take.
func (d *demo) register(ctx context.Context) error {
	defer func() { d.log.quiet = false }()
	for i, title := range []string{"Glacier length", "Glacier area", "Glacier mass"} {
		doc, err := d.record(title)
		if err != nil {
			return err
		}
		name := d.name(string(rune('a' + i)))
		d.log.quiet = i > 0
		before := d.log.count
		done, err := d.mds.Register(ctx, name, d.url, doc, nil)
		if err != nil {
			return err
		}
		d.say("%s is %s, by %s", done.DOI, done.State, plural(d.log.count-before, "request"))
	}
	return nil
}

func (d *demo) mint(ctx context.Context) error {
	doc, err := d.record("Minted")
	if err != nil {
		return err
	}
	name, err := d.mds.Mint(ctx, d.prefix, doc)
	if err != nil {
		return err
	}
	d.say("%s is new, a draft", name)
	if _, err := d.mds.PutURL(ctx, name, d.url); err != nil {
		return err
	}
	address, err := d.mds.URL(ctx, name)
	if err != nil {
		return err
	}
	d.say("%s points to %s", name, address)
	return nil
}

func (d *demo) hide(ctx context.Context) error {
	name := d.name("c")
	if err := d.mds.Hide(ctx, name); err != nil {
		return err
	}
	d.say("%s is hidden", name)
	return nil
}

func (d *demo) deleteDraft(ctx context.Context) error {
	doc, err := d.record("Unwanted")
	if err != nil {
		return err
	}
	name := d.name("draft")
	if _, err := d.mds.PutMetadata(ctx, name, doc); err != nil {
		return err
	}
	if err := d.mds.DeleteDraft(ctx, name); err != nil {
		return err
	}
	d.say("%s is gone", name)
	return nil
}

func (d *demo) search(ctx context.Context) error {
	wanted := query.And(
		query.FieldTitle.Is("glacier"),
		query.FieldTitle.Is(d.run),
		query.FieldCreatorName.Like("lovelace*"),
		query.Not(query.FieldTitle.Is("minted")),
	)
	d.say("query: %s", wanted)
	opts := &dois.ListOptions{Query: wanted, Sort: query.ByTitle, Prefix: []string{d.prefix},
		Page: query.Page{Number: 1, Size: 1}}
	found := 0
	for page, err := range d.dois.Pages(ctx, opts) {
		if err != nil {
			return err
		}
		for _, r := range page.Records {
			found++
			d.say("found %s: %s", r.DOI, r.Title())
		}
	}
	d.say("%s found; the hidden one is not among them%s", plural(found, "record"), d.indexNote(found))
	return nil
}

// indexNote explains what a newcomer would otherwise take for a fault.
func (d *demo) indexNote(found int) string {
	if found > 0 {
		return ""
	}
	return " (the real service indexes new records after some seconds; run the search again)"
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, strings.TrimSuffix(noun, "s"))
}
