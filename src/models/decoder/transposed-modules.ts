import { input, reshape, type Value } from '../../engine/graph/index.ts';
import type { Architecture } from './families/index.ts';
import type { HeadValues, LinearOptions } from './layer-context.ts';
import { ModuleContext } from './module-context.ts';

/** The modules, by their names within a layer, whose weights are kept as [in, out]: GPT-2's. */
export function transposedModules({ family, config }: Architecture): ReadonlySet<string> {
  const context = new LayoutContext(config);
  family.layer(context, input('x', ['M', config.hidden_size]));
  return context.transposed;
}

/** Builds a layer only to see how its modules are laid out. */
class LayoutContext extends ModuleContext {
  readonly transposed = new Set<string>();

  override linear(x: Value, module: string, options: LinearOptions): Value {
    if (options.transposed) this.transposed.add(module);
    return super.linear(x, module, options);
  }

  rope(heads: Value): Value {
    return heads;
  }

  attend({ q }: HeadValues): Value {
    const [rows, heads, size] = q.shape as [string, number, number];
    return reshape(q, [rows, heads * size]);
  }
}
