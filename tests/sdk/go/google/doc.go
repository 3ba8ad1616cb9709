// Package google drives a running gateway with Google's genai SDK. It only has tests, as the package
// above.
//
// GATEWAY_TARGET "direct" is the fake provider without a gateway: that run proves the fake. Tests whose
// names end in OnlyGateway are not for it: the driver skips them.
package google
