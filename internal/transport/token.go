package transport

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"time"
)

// Claims are what a JSON web token says of itself.
type Claims struct {
	Account string // whom it is for; "" if it does not say
	Expires time.Time
}

// ReadToken reads a JSON web token without checking whether it is genuine. Its
// errors do not quote the token.
func ReadToken(token string) (t Claims, err error) {
	if err := CheckToken(token); err != nil {
		return t, err
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return t, errors.New("not a JSON web token: it does not have three parts")
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return t, errors.New("not a JSON web token: its second part is not base64")
	}
	var claims struct {
		Account any      `json:"uid"`
		Expires *float64 `json:"exp"`
	}
	if json.Unmarshal(payload, &claims) != nil {
		return t, errors.New("not a JSON web token: its second part is not a JSON object with a numeric exp")
	}
	if claims.Expires == nil {
		return t, errors.New("the token does not say when it expires")
	}
	t.Account, _ = claims.Account.(string)
	t.Expires = time.Unix(int64(math.Trunc(min(max(*claims.Expires, 0), 1<<40))), 0)
	return t, nil
}
