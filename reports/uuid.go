package reports

import (
	"crypto/sha1"
	"fmt"
	"regexp"
	"time"
)

var uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

func checkUUID(path, id string) error {
	if !uuidForm.MatchString(id) {
		return &FieldError{path, fmt.Sprintf("%q is not a UUID such as 0148536f-bfbc-4775-b93c-524e91d0b9f6", id)}
	}
	return nil
}

// idSpace is the name space of the ids that this package derives.
var idSpace = [16]byte{0x5b, 0x1f, 0x3c, 0x52, 0x9e, 0x0d, 0x4e, 0x6a, 0x8c, 0x2b, 0x71, 0x94, 0x0a, 0xd3, 0x66, 0xe1}

// DeriveID returns the id that [Client.Submit] gives to a report unless told
// otherwise: a UUID (version 5) that depends on the creator and the begin date
// only, so that every run for that month arrives at the same report.
func DeriveID(h Header) string {
	begin := string(h.ReportingPeriod.BeginDate)
	hash := sha1.New()
	hash.Write(idSpace[:])
	fmt.Fprintf(hash, "%s\n%s", h.CreatedBy, begin[:min(len(begin), len(time.DateOnly))])
	sum := hash.Sum(nil)[:16]
	sum[6] = sum[6]&0x0f | 0x50
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:])
}
