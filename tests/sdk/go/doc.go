// Package sdkgo drives a running gateway with openai-go. It only has tests, in their own module, so
// that the SDK is not a dependency of the gateway.
//
// The driver (tests/sdk/run) builds it with "go test -c" and sets GATEWAY_ORIGIN, GATEWAY_API_KEY
// and the rest; without them every test fails.
package sdkgo
