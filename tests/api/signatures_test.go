package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const awsSecret = "aws-canary-wJalrXUtnFEMI-K7MDENG"

var awsAuthorization = regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/(\d{8})/us-east-1/bedrock/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$`)

// checkSignature computes the signature of a request as it was received, by AWS' description of Signature
// Version 4.
func checkSignature(r *http.Request, body []byte) error {
	found := awsAuthorization.FindStringSubmatch(r.Header.Get("Authorization"))
	if found == nil {
		return fmt.Errorf("authorization %q", r.Header.Get("Authorization"))
	}
	day, names, date := found[1], strings.Split(found[2], ";"), r.Header.Get("X-Amz-Date")
	if at, err := time.Parse("20060102T150405Z", date); err != nil || time.Since(at).Abs() > 5*time.Minute || !strings.HasPrefix(date, day) {
		return fmt.Errorf("date %q, day %s", date, day)
	}
	hash := func(text []byte) string { sum := sha256.Sum256(text); return hex.EncodeToString(sum[:]) }
	canonical := r.Method + "\n" + strings.ReplaceAll(r.URL.EscapedPath(), "%", "%25") + "\n" + r.URL.RawQuery + "\n"
	for _, name := range names {
		value := r.Header.Get(name)
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(r.ContentLength)
		}
		canonical += name + ":" + strings.TrimSpace(value) + "\n"
	}
	canonical += "\n" + strings.Join(names, ";") + "\n" + hash(body)
	key := []byte("AWS4" + awsSecret)
	for _, part := range []string{day, "us-east-1", "bedrock", "aws4_request",
		"AWS4-HMAC-SHA256\n" + date + "\n" + day + "/us-east-1/bedrock/aws4_request\n" + hash([]byte(canonical))} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	if hex.EncodeToString(key) != found[3] {
		return fmt.Errorf("the signature is not that of\n%s", canonical)
	}
	return nil
}

// Each attempt is signed over the bytes that are sent, also the one that replaces an attempt on a stale
// connection.
func TestRequestsToAWSAreSignedForEachAttempt(t *testing.T) {
	t.Setenv("SECRET_KEY", awsSecret)
	var attempts, closed atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := attempts.Add(1)
		body, _ := io.ReadAll(r.Body)
		if err := checkSignature(r, body); err != nil {
			t.Errorf("attempt %d: %v", n, err)
		}
		if n == 2 {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			closed.Add(1)
			_ = conn.Close()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"m","choices":[{"index":0,`+
			`"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`)
	}))
	t.Cleanup(server.Close)
	h := harness.Start(t, harness.Setup{Providers: "provider aws {\nauth aws {\naccess_key AKIDEXAMPLE\nsecret_key {env.SECRET_KEY}\n}\ndialect openai\nregion us-east-1\nbase_url " +
		server.URL + "/openai/v1\nquery tier 1\nmodels m\n}\n"})
	for range 2 {
		if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("aws/m", "")); a.Status != 200 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	if attempts.Load() != 3 || closed.Load() != 1 {
		t.Errorf("%d attempts, %d closed connections", attempts.Load(), closed.Load())
	}
	if strings.Contains(harness.Log.Text(), "canary") {
		t.Error("the log shows the secret key")
	}
}
