package metadata

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/datacite-go/datacite-go"
	"github.com/datacite-go/datacite-go/internal/lazy"
	"github.com/datacite-go/datacite-go/internal/xmlscan"
)

// UpgradeOptions are the options of [Upgrade].
type UpgradeOptions struct {
	// Values are values that cannot be derived, by their paths in the JSON form: those of the
	// findings in the error of Upgrade, such as types.resourceTypeGeneral, and the types of dates
	// that were a StartDate or EndDate, such as dates[0].dateType. A value for a place that is
	// right as it is, is an error.
	Values map[string]string
}

// Upgraded is what [Upgrade] made of a document.
type Upgraded struct {
	XML     []byte    // the document of kernel 4; nil if there is an error
	Kernel  string    // namespace of the old document, "" for kernel 2.0
	Derived []Derived // in the order of the work
}

// Derived is a value that Upgrade wrote in another way, moved or left out.
type Derived struct {
	Path string // in the JSON form of the old document, such as contributors[2].contributorType
	Old  string // "" if the document had nothing there
	New  string // the value of kernel 4, or its path if it moved; "" if kernel 4 has no place for it
}

// String returns path, old and new value in one line, with long values cut.
func (d Derived) String() string {
	if d.New == "" {
		return fmt.Sprintf("%s: %.200q is left out", d.Path, d.Old)
	}
	return fmt.Sprintf("%s: %.200q becomes %.200q", d.Path, d.Old, d.New)
}

// Upgrade turns an XML document of kernel 2.0 to 3.1 into one of kernel 4. The service refuses any
// change of a DOI with an older document, except this one. A document of kernel 4 is returned as it is.
//
// All that both kernels have stays as it is written, byte by byte, and so do the values of elements that
// have only moved: rights outside a list, points and boxes that are one text. These values are derived,
// and listed in Derived:
//
//   - the namespace and the location of the schema
//   - a contributor of the type Funder becomes a funding reference; it also stays as a contributor of the
//     type Other if it has more than a funding reference can hold
//   - a StartDate or EndDate becomes a date of the type Other, with its old type as dateInformation. With
//     Values, it gets the given type; the only StartDate and EndDate become a range if both get the same type
//   - the general type Film becomes Audiovisual
//   - a publication year that is a month or a day becomes its year
//   - markup in sizes, formats, rights and names becomes its text
//   - left out are lastMetadataUpdate and metadataVersionNumber, text beside the elements of a contributor,
//     and attributes of sizes, formats, rights and names that kernel 4 does not have
//
// What kernel 4 requires or refuses, and the document does not tell, is a [*datacite.ValidationError] with
// the lines and columns of the old document: most often a missing general type. Upgraded then has no XML.
// Any other error is that of the reader.
func Upgrade(r io.Reader, opts *UpgradeOptions) (*Upgraded, error) {
	s, err := openXML(r)
	if err != nil {
		return nil, err
	}
	tree := xmlscan.NewTree(s)
	switch {
	case tree == nil:
		return nil, syntaxError(s)
	case tree.Root.Name != "resource" || !isKernel(tree.Root.Space):
		return nil, datacite.Invalid(datacite.Finding{
			Code: datacite.CodeNamespace, Value: tree.Root.Space, Reason: "the root element is not that of a record, <resource>",
		})
	case tree.Root.Space == Namespace:
		return &Upgraded{XML: []byte(s.Source()), Kernel: Namespace}, nil
	}
	u := &upgrade{Tree: tree, source: s.Source(), kinds: map[string]string{}}
	u.Kernel = tree.Root.Space
	u.namespace()
	u.rights()
	u.walk(u.Root, &resourceElement().elementRule, nil)
	u.funders()
	var faults []datacite.Finding
	if opts != nil {
		faults = u.fill(opts.Values)
		u.period()
	}
	document := u.String()
	if err := datacite.Invalid(append(faults, u.faults(document)...)...); err != nil {
		return &u.Upgraded, err
	}
	u.XML = []byte(document)
	return &u.Upgraded, nil
}

// upgrade is a document on its way.
type upgrade struct {
	*xmlscan.Tree
	Upgraded
	source string
	kinds  map[string]string // StartDate or EndDate, by the path of the type
}

// derived notes a value that is not written as it was.
func (u *upgrade) derived(p *path, old, now string) {
	u.Derived = append(u.Derived, Derived{p.String(), old, now})
}

func (u *upgrade) element(name string, from *xmlscan.Node) *xmlscan.Node {
	return xmlscan.NewElement(u.Root.Prefix(), u.Kernel, name, from)
}

// first is the first element of a name in the root, nil if there is none.
func (u *upgrade) first(name string) *xmlscan.Node {
	for _, n := range u.Root.Elements(u.Kernel, name) {
		return n
	}
	return nil
}

// namespace changes the declarations of the namespace, and the attributes of the root. The space of a
// node stays the old one.
func (u *upgrade) namespace() {
	root := u.Root
	u.derived(&path{name: "schemaVersion"}, u.Kernel, Namespace)
	u.Root.Walk(func(n *xmlscan.Node) {
		for i, a := range n.Attrs {
			if a.Space == xmlscan.DeclarationSpace && a.Value == u.Kernel {
				n.Change(i, Namespace)
			}
		}
	})
	if u.Kernel == "" && !slices.ContainsFunc(root.Attrs, func(a xmlscan.Attribute) bool { return a.Name == "xmlns" }) {
		root.Add("xmlns", Namespace)
	}
	for i := len(root.Attrs) - 1; i >= 0; i-- {
		switch a := root.Attrs[i]; {
		case a.Space == xmlscan.SchemaInstanceSpace && a.Name == "schemaLocation":
			u.derived(&path{name: a.Name}, a.Value, schemaLocation)
			root.Change(i, schemaLocation)
		case a.Space == xmlscan.SchemaInstanceSpace && a.Name == "noNamespaceSchemaLocation",
			a.Space == "" && (a.Name == "lastMetadataUpdate" || a.Name == "metadataVersionNumber"):
			u.derived(&path{name: a.Name}, a.Value, "")
			root.Drop(i)
		}
	}
}

// rights moves rights into a list.
func (u *upgrade) rights() {
	loose, list := u.Root.Elements(u.Kernel, "rights"), u.first("rightsList")
	if len(loose) == 0 {
		return
	}
	if list == nil {
		list = u.element("rightsList", loose[0])
		u.Root.Insert(slices.Index(u.Root.Children, loose[0]), list)
	}
	u.Root.Remove(loose...)
	list.Append(loose...)
}

// lifts are what older kernels have in another form, by element.
var lifts map[string]func(*upgrade, *xmlscan.Node, *elementRule, *path)

func init() {
	lifts = map[string]func(*upgrade, *xmlscan.Node, *elementRule, *path){
		"size": flatten, "format": flatten, "rights": flatten, "creatorName": flatten, "contributorName": flatten,
		"publicationYear": liftYear, "date": liftDate, "resourceType": liftType, "contributor": dropLoose,
		"geoLocationPoint": split("pointLatitude", "pointLongitude"),
		"geoLocationBox":   split("southBoundLatitude", "westBoundLongitude", "northBoundLatitude", "eastBoundLongitude"),
	}
}

// walk lifts an element and those inside.
func (u *upgrade) walk(n *xmlscan.Node, e *elementRule, p *path) {
	if lift := lifts[e.name]; lift != nil {
		lift(u, n, e, p)
	}
	for _, c := range e.particles {
		if c.most == 0 {
			continue
		}
		for i, child := range n.Elements(u.Kernel, c.name) {
			u.walk(child, c.elementRule, c.step.from(p, i))
		}
	}
}

// flatten makes an element of any type one that has only text and the attributes of kernel 4.
func flatten(u *upgrade, n *xmlscan.Node, e *elementRule, p *path) {
	p = p.dot(e.text.member)
	for i := len(n.Attrs) - 1; i >= 0; i-- {
		a := n.Attrs[i]
		isKnown := slices.ContainsFunc(e.attributes, func(r *valueRule) bool { return r.names(a) })
		if !isKnown && a.Space != xmlscan.DeclarationSpace {
			u.derived(p, a.Name+"="+a.Value, "")
			n.Drop(i)
		}
	}
	if slices.ContainsFunc(n.Children, func(c *xmlscan.Node) bool { return c.Name != "" }) {
		old, text := n.Inner(), n.Content()
		u.derived(p, old, text)
		n.SetText(text)
	}
}

var monthOrDay = lazy.Regexp(`^(\d{4})-\d\d(-\d\d)?(T.*|Z|[+-]\d\d:\d\d)?$`)

func liftYear(u *upgrade, n *xmlscan.Node, e *elementRule, p *path) {
	if m := monthOrDay().FindStringSubmatch(xmlscan.Trim(n.Content())); m != nil {
		u.derived(p.dot(e.text.member), n.Content(), m[1])
		n.SetText(m[1])
	}
}

func liftDate(u *upgrade, n *xmlscan.Node, _ *elementRule, p *path) {
	p = p.dot("dateType")
	old := n.Attr("dateType")
	switch kind := xmlscan.Trim(old); {
	case kind == "StartDate" || kind == "EndDate":
		u.kinds[p.String()] = kind
		u.derived(p, old, string(DateOther))
		n.SetAttr("dateType", string(DateOther))
		if more := n.Attr("dateInformation"); more != "" {
			kind += "; " + more
		}
		n.SetAttr("dateInformation", kind)
	case kind != old: // kernel 2.0 spells "Available " so
		u.derived(p, old, kind)
		n.SetAttr("dateType", kind)
	}
}

func liftType(u *upgrade, n *xmlscan.Node, _ *elementRule, p *path) {
	if old := n.Attr("resourceTypeGeneral"); xmlscan.Trim(old) == "Film" {
		u.derived(p.dot("resourceTypeGeneral"), old, string(ResourceTypeAudiovisual))
		n.SetAttr("resourceTypeGeneral", string(ResourceTypeAudiovisual))
	}
}

// dropLoose removes the text between the elements of a contributor.
func dropLoose(u *upgrade, n *xmlscan.Node, _ *elementRule, p *path) {
	n.Children = slices.DeleteFunc(n.Children, func(c *xmlscan.Node) bool {
		text := xmlscan.Trim(c.Text)
		if text != "" {
			u.derived(p, text, "")
		}
		return text != ""
	})
}

// split makes elements of the numbers in one text.
func split(names ...string) func(*upgrade, *xmlscan.Node, *elementRule, *path) {
	return func(u *upgrade, n *xmlscan.Node, _ *elementRule, _ *path) {
		numbers := strings.Fields(n.Content())
		if len(numbers) != len(names) || slices.ContainsFunc(n.Children, func(c *xmlscan.Node) bool { return c.Name != "" }) {
			return // which the schema refuses
		}
		n.Children = nil
		for i, name := range names {
			part := xmlscan.NewElement(n.Prefix(), u.Kernel, name, n)
			part.SetText(numbers[i])
			n.Append(part)
		}
	}
}

const oldFunder = "Funder"

// funders makes funding references of contributors.
func (u *upgrade) funders() {
	list := u.first("contributors")
	if list == nil {
		return
	}
	refs, gone := u.first("fundingReferences"), []*xmlscan.Node(nil)
	before := 0
	if refs != nil {
		before = len(refs.Elements(u.Kernel, "fundingReference"))
	}
	contributors := list.Elements(u.Kernel, "contributor")
	for i, n := range contributors {
		if xmlscan.Trim(n.Attr("contributorType")) != oldFunder {
			continue
		}
		if refs == nil {
			refs = u.element("fundingReferences", n)
			u.Root.Insert(slices.Index(u.Root.Children, list)+1, refs)
		}
		p := (&path{name: "contributors"}).item(i)
		u.derived(p.dot("contributorType"), oldFunder, fmt.Sprintf("fundingReferences[%d]", before))
		before++
		if refs.Append(u.funding(n, p)); isOnlyFunder(u, n) {
			gone = append(gone, n)
			continue
		}
		u.derived(p.dot("contributorType"), oldFunder, string(ContributorOther))
		n.SetAttr("contributorType", string(ContributorOther))
	}
	if list.Remove(gone...); len(gone) > 0 && len(gone) == len(contributors) {
		u.Root.Remove(list)
	}
}

// isOnlyFunder reports whether a funding reference holds all of a contributor.
func isOnlyFunder(u *upgrade, n *xmlscan.Node) bool {
	seen := map[string]int{}
	for _, c := range n.Children {
		if c.Name == "" {
			continue
		}
		seen[c.Name]++
		for _, a := range c.Attrs {
			isKept := c.Name == "nameIdentifier" && a.Space == "" && (a.Name == "nameIdentifierScheme" || a.Name == "schemeURI")
			if !isKept && a.Space != xmlscan.DeclarationSpace {
				seen[a.Name]++
			}
		}
	}
	names := len(n.Elements(u.Kernel, "contributorName")) + len(n.Elements(u.Kernel, "nameIdentifier"))
	return len(seen) == names && seen["contributorName"] <= 1 && seen["nameIdentifier"] <= 1
}

// funding is a funder as a funding reference. Its nodes are new, since the contributor may stay.
func (u *upgrade) funding(n *xmlscan.Node, p *path) *xmlscan.Node {
	ref := u.element("fundingReference", n)
	if names := n.Elements(u.Kernel, "contributorName"); len(names) > 0 {
		to := u.element("funderName", names[0])
		to.SetText(names[0].Content())
		ref.Append(to)
	}
	if ids := n.Elements(u.Kernel, "nameIdentifier"); len(ids) > 0 {
		id := ids[0]
		to, scheme := u.element("funderIdentifier", id), id.Attr("nameIdentifierScheme")
		kind := funderType(scheme, id.Content())
		if to.SetText(id.Content()); scheme != kind {
			u.derived(p.dot("nameIdentifiers").item(0).dot("nameIdentifierScheme"), scheme, kind)
		}
		to.Add("funderIdentifierType", kind)
		if uri := id.Attr("schemeURI"); uri != "" {
			to.Add("schemeURI", uri)
		}
		ref.Append(to)
	}
	return ref
}

// funderType is the type of a funder's identifier.
func funderType(scheme, id string) string {
	if strings.Contains(id, "10.13039/") {
		return string(FunderCrossref)
	}
	folded := fold(scheme)
	for _, t := range funderIdentifierTypes {
		if folded == fold(t) || aliases[folded] == t {
			return t
		}
	}
	return string(FunderOther)
}

// faults validates the document, and says where the faults are in the old one.
func (u *upgrade) faults(document string) []datacite.Finding {
	s, err := xmlscan.Open(strings.NewReader(document))
	if err != nil {
		return []datacite.Finding{{Code: datacite.CodeSyntax, Reason: err.Error()}}
	}
	x := &xmlChecker{Scanner: s}
	x.document()
	for i := range x.offsets {
		x.offsets[i] = u.Origin(x.offsets[i])
	}
	found := x.located(u.source)
	for i := range found {
		if whole, isList := wholes[found[i].Path]; isList {
			found[i].Path = whole
		}
	}
	return found
}

// wholes are the paths of values that a list needs.
var wholes = map[string]string{"creators": "creators[0].name", "titles": "titles[0].title"}

// fill puts values where something is missing or wrong, or was only assumed.
func (u *upgrade) fill(values map[string]string) (faults []datacite.Finding) {
	wanted := maps.Clone(u.kinds)
	for _, f := range u.faults(u.String()) {
		wanted[f.Path] = f.Reason
	}
	for _, at := range slices.Sorted(maps.Keys(values)) {
		if _, ok := wanted[at]; !ok || at == "" || !u.put(u.Root, &resourceElement().elementRule, nil, at, values[at]) {
			faults = append(faults, datacite.Finding{
				Path: at, Code: datacite.CodeValue, Value: values[at],
				Reason: "a value is given for this place, where none is needed or possible",
			})
		}
	}
	return faults
}

// put sets the value at a path below p, and adds the elements that it needs.
func (u *upgrade) put(n *xmlscan.Node, e *elementRule, p *path, at, value string) bool {
	for _, a := range e.attributes {
		if p.dot(a.member).String() == at && a.space == "" {
			old := n.Attr(a.name)
			if n.SetAttr(a.name, value); old != value {
				u.derived(p.dot(a.member), old, value)
			}
			return true
		}
	}
	if e.kind == textOnly && p.dot(e.text.member).String() == at {
		u.derived(p.dot(e.text.member), n.Content(), value)
		n.SetText(value)
		return true
	}
	for i, c := range e.particles {
		if c.most > 0 && u.putInside(n, e, i, p, at, value) {
			return true
		}
	}
	return false
}

func (u *upgrade) putInside(n *xmlscan.Node, e *elementRule, i int, p *path, at, value string) bool {
	c, same := e.particles[i], n.Elements(u.Kernel, e.particles[i].name)
	for j, child := range same {
		to := c.step.from(p, j)
		if !isWithin(at, to.String()) || !u.put(child, c.elementRule, to, at, value) {
			continue
		}
		if c.most == 1 {
			for _, other := range same[1:] { // of which kernel 4 has one
				u.derived(to.dot(c.text.member), other.Content(), "")
			}
			n.Remove(same[1:]...)
		}
		return true
	}
	child, to := u.element(c.name, n), c.step.from(p, len(same))
	if !isWithin(at, to.String()) || !u.put(child, c.elementRule, to, at, value) {
		return false
	}
	if c.name == "identifier" {
		child.SetAttr("identifierType", "DOI")
	}
	n.Insert(u.placeFor(n, e, i), child)
	return true
}

// placeFor is the index of the first child of n that comes after particle i.
func (u *upgrade) placeFor(n *xmlscan.Node, e *elementRule, i int) int {
	at := slices.IndexFunc(n.Children, func(child *xmlscan.Node) bool {
		return child.Space == u.Kernel && child.Name != "" && e.find(child.Name, 0) > i
	})
	if at < 0 {
		return len(n.Children)
	}
	return at
}

func isWithin(at, outer string) bool {
	rest, ok := strings.CutPrefix(at, outer)
	return ok && (outer == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

// period makes a range of the only StartDate and EndDate, if both have got the same type, and nothing
// else of their own.
func (u *upgrade) period() {
	list := u.first("dates")
	if list == nil || len(u.kinds) != 2 {
		return
	}
	ends := map[string]*xmlscan.Node{}
	for i, n := range list.Elements(u.Kernel, "date") {
		if kind := u.kinds[fmt.Sprintf("dates[%d].dateType", i)]; kind != "" {
			ends[kind] = n
		}
	}
	start, end := ends["StartDate"], ends["EndDate"]
	if start == nil || end == nil {
		return
	}
	if kind := start.Attr("dateType"); kind == string(DateOther) || kind != end.Attr("dateType") {
		return
	}
	if start.Attr("dateInformation") != "StartDate" || end.Attr("dateInformation") != "EndDate" || hasMore(end) {
		return // which a range would lose
	}
	from, to := xmlscan.Trim(start.Content()), xmlscan.Trim(end.Content())
	if from == "" || to == "" || strings.Contains(from+to, "/") {
		return
	}
	u.derived(&path{name: "dates"}, from+" and "+to, from+"/"+to)
	start.SetText(from + "/" + to)
	start.Drop(slices.IndexFunc(start.Attrs, func(a xmlscan.Attribute) bool { return a.Name == "dateInformation" }))
	list.Remove(end)
}

// hasMore reports whether a date has attributes that the schema does not know.
func hasMore(date *xmlscan.Node) bool {
	return slices.ContainsFunc(date.Attrs, func(a xmlscan.Attribute) bool {
		return a.Space != xmlscan.DeclarationSpace && (a.Space != "" || a.Name != "dateType" && a.Name != "dateInformation")
	})
}
