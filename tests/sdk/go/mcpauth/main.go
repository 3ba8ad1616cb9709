// Command mcpauth signs a person in with the OAuth client of the Go SDK of MCP, calls a tool, and
// again once its token has ended; see tests/mcpauth.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

var origin, person = os.Getenv("ORIGIN"), os.Getenv("PERSON")

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	const redirect = "http://127.0.0.1:8765/callback"
	opened := 0
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "The Go SDK", RedirectURIs: []string{redirect}, GrantTypes: []string{"authorization_code", "refresh_token"},
		}},
		RedirectURL:         redirect,
		RequestRefreshToken: true,
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			opened++
			resp, err := http.Get(person + "?" + url.Values{"url": {args.URL}}.Encode())
			if err != nil {
				return nil, err
			}
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			if err != nil {
				return nil, err
			}
			back, err := url.Parse(string(text))
			if err != nil {
				return nil, err
			}
			q := back.Query()
			return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
		},
	})
	if err != nil {
		return err
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "suite", Version: "1"}, nil).Connect(ctx,
		&mcp.StreamableClientTransport{Endpoint: origin + "/mcp/demo", OAuthHandler: handler, MaxRetries: -1}, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	first, err := call(ctx, session, handler, "first")
	if err != nil {
		return err
	}
	for status := 0; status != http.StatusUnauthorized; {
		if status, err = post(ctx, "demo", first); err != nil {
			return err
		}
		time.Sleep(time.Second / 5)
	}
	second, err := call(ctx, session, handler, "renewed")
	if err != nil || second == first || opened != 1 {
		return fmt.Errorf("the page was opened %d times: %w", opened, err)
	}
	if status, err := post(ctx, "other", second); err != nil || status != http.StatusUnauthorized {
		return fmt.Errorf("elsewhere: %d, %w", status, err)
	}
	fmt.Println("elsewhere: refused")
	return nil
}

// call calls a tool, and returns the token with which it was called.
func call(ctx context.Context, session *mcp.ClientSession, handler auth.OAuthHandler, name string) (token string, err error) {
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hello"}})
	if err != nil {
		return "", err
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		return "", errors.New("the tool does not answer with a text")
	}
	fmt.Println(name+":", text.Text)
	source, err := handler.TokenSource(ctx)
	if err != nil {
		return "", err
	}
	got, err := source.Token()
	if err != nil {
		return "", err
	}
	return got.AccessToken, nil
}

func post(ctx context.Context, server, token string) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, origin+"/mcp/"+server, nil)
	if err != nil {
		return 0, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}
