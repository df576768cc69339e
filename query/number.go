package query

import (
	"math"
	"strconv"
	"strings"
)

// javaFloat reads what Java's Float.parseFloat reads, as the service does
// after a ~: also 1f, 1e0, 0x1p1, NaN.
func javaFloat(s string) (float32, bool) {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	body := strings.TrimLeft(s, "+-")
	if len(s)-len(body) > 1 {
		return 0, false
	}
	switch body {
	case "NaN":
		return float32(math.NaN()), true
	case "Infinity":
		return float32(math.Inf(1 - 2*strings.Count(s, "-"))), true
	}
	number := strings.TrimSuffix(s[:len(s)-len(body)], "+") + withoutSuffix(body)
	if !isJavaNumber(withoutSuffix(body)) {
		return 0, false
	}
	f, err := strconv.ParseFloat(number, 32)
	return float32(f), err == nil || math.IsInf(f, 0)
}

// withoutSuffix drops the f or d that may end a number in Java.
func withoutSuffix(s string) string {
	if s == "" || !strings.ContainsRune("fFdD", rune(s[len(s)-1])) {
		return s
	}
	if isHex(s) && !strings.ContainsAny(s, "pP") {
		return s // a digit
	}
	return s[:len(s)-1]
}

func isHex(s string) bool { return strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X") }

// isJavaNumber accepts digits with at most one point, and an exponent, which a
// hexadecimal number must have. Go accepts more: underscores and words.
func isJavaNumber(s string) bool {
	digits, exponent := "0123456789", "eE"
	hex := isHex(s)
	if hex {
		s, digits, exponent = s[2:], "0123456789abcdefABCDEF", "pP"
	}
	mantissa, exp := s, ""
	if i := strings.IndexAny(s, exponent); i >= 0 {
		mantissa, exp = s[:i], s[i+1:]
		exp = strings.TrimPrefix(strings.TrimPrefix(exp, "+"), "-")
		if !consistsOf(exp, "0123456789") || strings.HasPrefix(s[i+1:], "+-") {
			return false
		}
	} else if hex {
		return false
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	return consistsOf(whole+fraction, digits)
}

func consistsOf(s, set string) bool { return s != "" && strings.Trim(s, set) == "" }

// saturate cuts a number to an int as Java does.
func saturate(f float32) int32 {
	switch {
	case f != f:
		return 0
	case f >= math.MaxInt32:
		return math.MaxInt32
	case f <= math.MinInt32:
		return math.MinInt32
	}
	return int32(f)
}
