// Package transport is the HTTP core that the three clients share. It builds a
// request, sends it as often as the operation allows, reads the response within
// limits, and turns everything that is not a success into one [Error].
//
// What may be sent again is a property of the operation, not of the HTTP verb:
// see [Replay]. Credentials are put on the request itself, never in a
// RoundTripper, so a redirect cannot carry them to another host.
package transport
