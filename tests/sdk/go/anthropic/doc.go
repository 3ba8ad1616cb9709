// Package anthropic drives a running gateway with anthropic-sdk-go, the newest major, or with the
// tag anthropic1 the one before: the tests are the same. It only has tests, as the package above.
//
// GATEWAY_TARGET "direct" is the fake provider without a gateway: that run proves the fake.
package anthropic
