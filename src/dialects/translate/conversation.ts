import type { Part, TextPart, ToolResultPart, Turn } from './neutral-request.js';

/** Gathers turns as they are read: system text before the first turn stands apart, results open the user turn they belong to. */
export class Conversation {
  readonly system: TextPart[] = [];
  readonly turns: Turn[] = [];

  #append(parts: readonly Part[]): void {
    const last = this.turns.pop()!;
    this.turns.push({ ...last, parts: [...last.parts, ...parts] });
  }

  #open(role: Turn['role'], at: string, parts: readonly Part[]): void {
    if (parts.length > 0) this.turns.push({ role, at, parts });
  }

  #endsInResult(): boolean {
    return this.turns.at(-1)?.parts.at(-1)?.kind === 'tool_result';
  }

  addSystem(at: string, parts: readonly Part[]): void {
    const isText = (part: Part): part is TextPart => part.kind === 'text';
    if (this.turns.length === 0 && parts.every(isText)) this.system.push(...parts);
    else this.#open('system', at, parts);
  }

  addUser(at: string, parts: readonly Part[]): void {
    if (this.#endsInResult()) this.#append(parts);
    else this.#open('user', at, parts);
  }

  addResult(part: ToolResultPart): void {
    if (this.#endsInResult()) this.#append([part]);
    else this.#open('user', part.at, [part]);
  }

  addAssistant(at: string, parts: readonly Part[]): void {
    this.#open('assistant', at, parts);
  }

  /** For formats that write one turn as several items. */
  continueAssistant(at: string, parts: readonly Part[]): void {
    if (this.turns.at(-1)?.role === 'assistant') this.#append(parts);
    else this.#open('assistant', at, parts);
  }
}
