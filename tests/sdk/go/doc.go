// Package sdkgo drives a running gateway with openai-go. It has tests only, in a
// module of its own so that the SDK stays out of the gateway's dependencies.
//
// The driver (tests/sdk/run) builds it with "go test -c" and sets GATEWAY_ORIGIN,
// GATEWAY_API_KEY and the rest; without them every test fails.
package sdkgo
