//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// maxPage bounds how much of an answer is read that is not under load; a page of metrics is far smaller.
const maxPage = 16 << 20

// plain is the client for what is not under load. It keeps no connections.
var plain = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// bearer is the header of a call with a key.
func bearer(key string) http.Header { return http.Header{"Authorization": {"Bearer " + key}} }

// fetch makes a request without a body. An answer without status 200 is an error.
func fetch(ctx context.Context, client *http.Client, method, address string, header http.Header) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, ioTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header = header
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxPage))
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: status %d: %q", method, req.URL.Path, res.StatusCode, shorten(body))
	}
	return body, err
}

// fetchJSON decodes the answer of fetch.
func fetchJSON(ctx context.Context, method, address, key string, into any) error {
	body, err := fetch(ctx, plain, method, address, bearer(key))
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	return err
}

// browserClient is a client whose connections all go to addr, whatever a URL says.
func browserClient(addr string) (*http.Client, *http.Transport) {
	t := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: ioTimeout}).DialContext(ctx, network, addr)
	}}
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, t
}

// signIn signs in to the console of an origin, and returns the cookie.
func signIn(ctx context.Context, client *http.Client, origin, key string) (*http.Cookie, error) {
	ctx, cancel := context.WithTimeout(ctx, ioTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, origin+"/console/sign-in", strings.NewReader(url.Values{"key": {key}}.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Origin": {origin}}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	res.Body.Close()
	if len(res.Cookies()) == 0 {
		return nil, fmt.Errorf("signing in: status %d and no cookie", res.StatusCode)
	}
	return res.Cookies()[0], nil
}
