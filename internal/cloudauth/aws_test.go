package cloudauth

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

const exampleSecret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

// text returns what a placeholder of a configuration returns.
func text(s string) func() string { return func() string { return s } }

func TestRequestsAreSignedAsBotocoreSignsThem(t *testing.T) {
	golden, err := os.ReadFile("testdata/botocore.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Name, Method, URL, Token, Service, Region, Authorization, Date string
		Body                                                           *string
	}
	if err := json.Unmarshal(golden, &rows); err != nil || len(rows) == 0 {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 23, 12, 30, 45, 0, time.UTC)
	for _, row := range rows {
		a := AWS{Region: row.Region, Service: row.Service, AccessKey: "AKIDEXAMPLE", SecretKey: text(exampleSecret)}
		if row.Token != "" {
			a.SessionToken = text(row.Token)
		}
		c, err := NewAWS(t.Context(), a, func() time.Time { return at })
		if err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequest(row.Method, row.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("User-Agent", "gatehouse")
		r.Header.Set("Accept", "text/event-stream")
		if row.Body != nil {
			r.Header.Set("Content-Type", "application/json")
			r.GetBody = provider.NewBody([][]byte{[]byte(*row.Body)}, func() {}).Open
		}
		for range 2 { // an attempt that is repeated on another connection is signed again
			if err := c.Sign(r); err != nil {
				t.Fatalf("%s: %v", row.Name, err)
			}
			if got := r.Header.Get("Authorization"); got != row.Authorization {
				t.Errorf("%s:\n%s\nwant\n%s", row.Name, got, row.Authorization)
			}
			if got := r.Header.Get("X-Amz-Date") + " " + r.Header.Get("X-Amz-Security-Token"); got != row.Date+" "+row.Token {
				t.Errorf("%s: date and token %q", row.Name, got)
			}
		}
		if c.Refused(403) {
			t.Errorf("%s: keys that do not change are not renewed", row.Name)
		}
		if got := c.Status(); !got.Static || got.Kind != "aws" || got.Err != nil {
			t.Errorf("%s: status %+v", row.Name, got)
		}
	}
}

func TestABedrockKeyIsABearerToken(t *testing.T) {
	key := "one"
	c, err := NewAWS(t.Context(), AWS{BearerToken: func() string { return key }}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, key = range []string{"one", "two"} { // its file changed
		r, _ := http.NewRequest("POST", "https://bedrock-runtime.us-east-1.amazonaws.com/model/m/converse", nil)
		if err := c.Sign(r); err != nil || r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("%v %v", r.Header, err)
		}
	}
	r, _ := http.NewRequest("POST", "http://bedrock.example/model/m/converse", nil)
	if err := c.Sign(r); err == nil || r.Header.Get("Authorization") != "" {
		t.Error("the key was sent over plain http")
	}
}

func TestTheEnvironmentIsASourceOfAWSKeys(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", exampleSecret)
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", t.TempDir()+"/none")
	c, err := NewAWS(t.Context(), AWS{Region: "us-east-1"}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := c.Status(); got.Life <= 59*time.Minute || got.Static {
		t.Errorf("status %+v", got)
	}
	if secrets := strings.Join(c.Secrets(), " "); !strings.Contains(secrets, exampleSecret) {
		t.Error("the secret key is not among the secrets")
	}
}

func TestWithoutAnySourceTheErrorNamesThem(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_CONFIG_FILE", t.TempDir()+"/none")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", t.TempDir()+"/none")
	c, err := NewAWS(t.Context(), AWS{Region: "us-east-1"}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Fetch(context.Background()); err == nil || !strings.Contains(err.Error(), "web identity") {
		t.Errorf("error %v", err)
	}
}

func TestImpossibleAWSAccountsAreRefused(t *testing.T) {
	key := text("k")
	for want, a := range map[string]AWS{
		`region "x.evil.example/"`: {Region: "x.evil.example/"},
		`region ""`:                {},
		`service "a b"`:            {Region: "us-east-1", Service: "a b"},
		"one needs the other":      {Region: "us-east-1", AccessKey: "k"},
		"only one of them":         {Region: "us-east-1", AccessKey: "k", SecretKey: key, Profile: "p"},
		"signs nothing":            {BearerToken: key, Instance: true},
	} {
		t.Setenv("AWS_REGION", "")
		t.Setenv("AWS_DEFAULT_REGION", "")
		if _, err := NewAWS(t.Context(), a, time.Now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", a, err, want)
		}
	}
}
