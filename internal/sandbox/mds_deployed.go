package sandbox

import (
	"bytes"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The deployed metadata store hands requests on to a service behind it, and
// most of what it does differently comes from that.

// maxOtherBody is the most that the proxy lets through to interfaces B and C.
const maxOtherBody = 10 << 20

var (
	errBlank   = fail(http.StatusUnprocessableEntity, "Can't be blank")
	errInvalid = fail(http.StatusUnprocessableEntity, "Is invalid")

	deployedPathForm = regexp.MustCompile(`^10\.[0-9]{4,5}/.+`)
	deployedNameForm = regexp.MustCompile(`^10\.[0-9]{4,5}/[-._;()/:a-z0-9*~$=]+$`)
)

// nameInPath is the DOI that a path means. A Deployed service takes prefixes of
// four or five digits, cuts the name at "#" and "?", so that it means another
// DOI, and stumbles over some characters.
func (s *Service) nameInPath(path string) (string, error) {
	name, ok := doiName(path)
	if !s.deployed {
		if !ok {
			return "", errNoDOI
		}
		return name, nil
	}
	if end := strings.IndexAny(name, "#?"); end >= 0 {
		name = name[:end]
	}
	switch {
	case !ok || !deployedPathForm.MatchString(name):
		return "", errNoDOI
	case strings.ContainsAny(name, `<> %"`):
		return "", fail(http.StatusBadRequest, "bad URI (is not URI?): %q", name)
	}
	return name, nil
}

// permitted refuses parameters that the deployed store does not know, wherever
// they come from.
func permitted(q *request) error {
	known := []string{"id", "doi", "url", "doi_id", "number", "testMode"}
	for pair := range strings.SplitSeq(q.URL.RawQuery, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if name != "" && !slices.Contains(known, name) {
			return unpermittedParameter(name)
		}
	}
	return nil
}

func unpermittedParameter(name string) error {
	return fail(http.StatusUnprocessableEntity, "found unpermitted parameter: :%s", name)
}

// deployedURLRecord reads DOI and URL as the deployed store does: lines in any
// order, others ignored, the last of a kind wins, parameters of the query string
// for what is missing. A path that is no DOI is ignored.
func deployedURLRecord(q *request, body, path string) (name, address string, err error) {
	inURL, err := urlParams(q.URL.RawQuery)
	if err != nil {
		return "", "", err
	}
	given := map[string]string{"doi": inURL["doi"], "url": inURL["url"]}
	switch kind, _, _ := mime.ParseMediaType(q.Header.Get("Content-Type")); {
	case body == "" && given["doi"] == "" && given["url"] == "":
		return "", "", fail(http.StatusBadRequest, "")
	case kind == "application/json":
		return "", "", unpermittedParameter("doi")
	case kind == "application/x-www-form-urlencoded" && strings.Contains(body, "&"):
		_, rest, _ := strings.Cut(body, "&")
		odd, _, _ := strings.Cut(rest, "=")
		return "", "", unpermittedParameter(odd)
	}
	for line := range strings.SplitSeq(body, "\n") {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			given[strings.TrimSpace(key)] = unescapeForm(strings.TrimSpace(value))
		}
	}
	name, address = given["doi"], given["url"]
	inPath, hasPath := doiName(path)
	switch {
	case name == "":
		return "", "", errNeedsDOI
	case address == "":
		return "", "", errNeedsURL
	case hasPath && inPath != lower(name):
		return "", "", errOtherDOI
	}
	name, ok := doiName(name)
	if !ok || !deployedPathForm.MatchString(name) {
		return "", "", errNoDOI
	}
	return name, address, nil
}

// seedNumber is the parameter that decides about a minted suffix.
func seedNumber(q *request) (uint32, bool) {
	n, err := strconv.ParseUint(q.URL.Query().Get("number"), 10, 30)
	return uint32(n), err == nil
}

var declaration = regexp.MustCompile(`^\s*<\?xml[^>]*\?>\s*`)

// reserialised is XML as the deployed service keeps it: written anew, so not
// byte by byte what was sent. It leaves a document alone, identifier and all,
// whose elements have a prefix.
func reserialised(withName, sent []byte) []byte {
	sent = bytes.TrimPrefix(sent, byteOrderMark)
	root := declaration.ReplaceAll(bytes.TrimPrefix(withName, byteOrderMark), nil)
	if prefixedRoot.Match(root) {
		return sent
	}
	return slices.Concat([]byte("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"), bytes.TrimSpace(root), []byte("\n"))
}

var prefixedRoot = regexp.MustCompile(`^(<!--[^>]*-->|\s)*<[\w.-]+:resource[\s>]`)

// serveRest is what else the host of the deployed metadata store answers.
func serveRest(q *request) (reply, error) {
	if q.method == http.MethodGet {
		switch q.path {
		case "/heartbeat":
			return textReply(http.StatusOK, "OK"), nil
		case "/":
			res := reply{status: http.StatusMovedPermanently, plain: true}
			res.header = map[string]string{"Location": "https://support.datacite.org/docs/mds-api-guide"}
			return res, nil
		case "/login":
			return reply{}, fail(http.StatusNotImplemented, "Not implemented")
		}
	}
	return reply{}, errNoRoute
}
